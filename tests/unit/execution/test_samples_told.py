"""What is said of the rows that are sampled is said in the reader's language."""

from brimline.dataset.sampling import Rows
from brimline.execution.samples import _told
from brimline.plan.operations import Sampled
from brimline.report.language.translator import translator_for


def test_rows_are_told_in_chinese_as_well() -> None:
    rows = Rows(content=b"", row_count=10_000, lacking_count=3, way="evenly in the order of _id", is_cut=True)
    wanted = Sampled(database="post", collection="parcels", fields=("a", "b"), row_count_max=10_000)
    told = _told(rows, wanted, "post.parcels")
    assert told == (
        "10 000 rows of post.parcels, evenly in the order of _id, 3 further ones lack a or b and were left out, no "
        "more for the sake of memory"
    )
    chinese = translator_for("zh")
    assert "按 _id 顺序均匀选取" in chinese.say(told) and "rows" not in chinese.say(told)
