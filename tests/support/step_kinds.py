"""Owns a workload with every kind of step, and what holds of a run of it on a real server."""

from pathlib import Path

import brimline

WORKLOAD = """\
name: kinds
database: step_kinds
collections:
  orders:
    records: 2k
    fields:
      customer: {kind: int, max: 99}
      total: {kind: double, max: 500}
      tags: {kind: array, length: {kind: uniform, min: 1, max: 3}, of: {kind: choice, of: [red, green, blue]}}
      state: {kind: choice, of: [new, paid]}
    indexes: [{customer: 1}, {state: 1, total: -1}]
  stock: {records: 500, fields: {left: {kind: int, min: 1000, max: 2000}}}
values:
  customer: {kind: int, max: 99}
  sku: {key_of: stock, keys: {kind: zipfian}}
  order: {key_of: orders}
  fresh: {new_key_of: orders}
operations:
  find:
    share: 10
    find:
      collection: orders
      filter: {customer: $customer}
      projection: {total: 1}
      sort: {total: -1}
      skip: 1
      batch_size: 5
  aggregate:
    share: 5
    aggregate:
      collection: orders
      pipeline: [{$match: {customer: $customer}}, {$unwind: $$tags}, {$group: {_id: $$tags, sum: {$sum: $$total}}}]
  count: {share: 5, count: {collection: orders, filter: {customer: $customer}}}
  distinct: {share: 5, distinct: {collection: orders, field: tags, filter: {customer: $customer}}}
  insert_one: {share: 5, insert: {collection: orders, document: {customer: $customer, total: 1.5, state: new}}}
  insert_many: {share: 2, insert: {collection: orders, document: {customer: $customer, total: 2.5}, count: 10}}
  insert_keyed: {share: 2, insert: {collection: orders, document: {_id: $fresh, customer: $customer}}}
  update_one:
    share: 5
    update: {collection: stock, filter: {_id: $sku}, update: {$inc: {left: -1}}}
    expect: {matched: 1}
  update_many:
    share: 1
    update: {collection: orders, filter: {customer: $customer}, update: {$set: {seen: $now}}, many: true}
  update_by_pipeline:
    share: 1
    update: {collection: stock, filter: {_id: $sku}, update: [{$set: {twice: {$multiply: [$$left, 2]}}}]}
  upsert: {share: 1, update: {collection: stock, filter: {_id: $index}, update: {$set: {left: 1}}, upsert: true}}
  replace_one: {share: 2, replace: {collection: stock, filter: {_id: $sku}, replacement: {left: 1500}}}
  delete_one: {share: 2, delete: {collection: orders, filter: {_id: $order}}}
  take:
    share: 5
    find_and_modify:
      {collection: orders, filter: {state: new}, sort: {total: -1}, update: {$set: {state: taken, by: $worker}}}
  bulk:
    share: 2
    bulk_write:
      collection: stock
      requests:
        - insert: {document: {left: 5}}
        - update: {filter: {_id: $sku}, update: {$inc: {left: 1}}}
        - delete: {filter: {left: 5}}
  ping: {share: 2, command: {ping: 1}}
  look_twice:
    share: 5
    steps:
      - find: {collection: stock, filter: {_id: $sku}, limit: 1}
        save: {left: left}
        expect: {documents: 1}
      - think_time: 1ms
      - find: {collection: stock, filter: {left: $left}, limit: 5}
  TRANSACTION
"""
TRANSACTION = """\
lend:
    share: 5
    steps:
      - find: {collection: stock, filter: {_id: $sku}}
      - transaction:
          - insert: {collection: orders, document: {customer: $customer, sku: $sku}}
          - update: {collection: stock, filter: {_id: $sku}, update: {$inc: {left: -1}}}
          - find: {collection: orders, filter: {sku: $sku}, limit: 3}"""


def require_every_kind(uri: str, scratch: Path, *, transactions: bool = False) -> None:
    """Runs each kind of step on the server at `uri`: nothing fails, and the server has counted the same."""
    text = WORKLOAD.replace("  TRANSACTION\n", f"  {TRANSACTION}\n" if transactions else "")
    (scratch / "kinds.yaml").write_text(text)
    result = brimline.run(
        scratch / "kinds.yaml",
        overrides={"operation_count": 600, "warmup": "0s", "connections": 4},
        options=brimline.Options(uri=uri, data="load", drop=True, allow_writes=True, runs_dir=scratch),
    )
    assert result.error is None, result.error
    assert list(result.record.errors) == []
    findings = {finding.name: finding for finding in result.observation.findings}
    for name in ("opcounters", "conservation", "errors"):
        assert findings[name].verdict.value == "pass", findings[name]
    totals = result.record.summary["operations"]
    assert all(row["sent"] > 0 for row in totals.values())
    assert len(totals) == (18 if transactions else 17)
