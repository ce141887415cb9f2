"""A plan in prose, one line per aspect: what a test says of a plan is read more easily than its parts."""

from brimline import units
from brimline.operations import KINDS
from brimline.plan import model
from brimline.plan.document_bytes import mean_document_bytes
from brimline.plan.log import LOG_ROW_BYTES, log_bytes, operations_at_most
from brimline.plan.own import collection_plan
from brimline.plan.pacing import load_line
from brimline.plan.targets import write_concern_text
from brimline.spec import keys as keys_of_specs
from brimline.spec import lengths
from tests.support.explained_own_plan import own_lines, own_load_lines


def explain(plan: model.Plan) -> list[str]:
    """What `plan` does, one line per aspect: "data: …", "operations: …"."""
    lines = [
        f"plan: {plan.name}, seed {plan.seed}, hash {plan.hash8()}",
        f"target: {_target(plan.target)}",
    ]
    if isinstance(plan.work, model.OperationsWork):
        lines += own_lines(plan, [_data(collection_plan(plan, place)) for place in range(len(plan.work.collections))])
        return [*lines, load_line(plan), *own_load_lines(plan), f"time: {_time(plan)}", *_logged(plan)]
    lines += [f"data: {_data(plan)}"]
    if isinstance(plan.work, model.MixWork):
        lines += [f"operations: {_operations(plan.work)}", f"keys: {_keys(plan.work.keys)}"]
    else:
        lines += [f"operations: {_loading(plan.work, plan.data)}"]
    return [*lines, load_line(plan), f"time: {_time(plan)}", *_logged(plan)]


def _logged(plan: model.Plan) -> list[str]:
    if not plan.operation_log:
        return []
    count = operations_at_most(plan)
    size = "" if count is None else f", up to {units.format_bytes(log_bytes(count), digits=2)} in all"
    return [f"log: every operation that finishes, {LOG_ROW_BYTES} bytes each{size}"]


def _target(target: model.TargetPlan) -> str:
    match target:
        case model.NullTarget():
            return "none; every operation is answered at once, which shows the generator's own ceiling"
        case model.SimulatedTarget():
            return "a scripted server on a virtual clock"
        case model.RunnerTarget():
            pool = f"a pool of {target.max_pool_size} to each server"
            servers = ", ".join(target.addresses)
            return f"{servers} by {target.client}, {pool}, {_write_concern(target.write_concern)}{_concern(target)}"
        case model.WireTarget():
            servers = ", ".join((target.address, *target.routers, *target.shards))
            if target.shards:
                servers = f"{1 + len(target.shards)} client-routed shards ({servers})"
            sessions = "; every command in a session" if target.sessions else ""
            return f"{servers}, {_write_concern(target.write_concern)}{_reads(target)}{_failover(target)}{sessions}"
        case model.HttpTarget():
            return f"{'https' if target.tls else 'http'}://{target.authority}, {', '.join(_http(target))}"
        case model.SqlTarget():
            name = {"mysql": "MariaDB or MySQL", "postgres": "PostgreSQL"}[target.kind]
            secured = ", secured by TLS" if target.tls else ""
            return f"{name} at {target.address}, database {target.database}{secured}"


def _http(target: model.HttpTarget) -> list[str]:
    kept = "connections are kept" if target.keep_alive else "each request has a connection of its own"
    words = [kept if target.connect == "before" else f"{kept}, and made when a request needs one"]
    if target.follow_redirects:
        words.append(f"up to {units.counted(target.follow_redirects, 'redirect')} followed")
    return [*words, "cookies kept by each worker" if target.cookies else "no cookies kept"]


def _concern(target: model.RunnerTarget) -> str:
    return "" if target.read_concern is None else f", read concern {target.read_concern}"


def _failover(target: model.WireTarget) -> str:
    words = []
    if target.replica_set is not None:
        timeout = units.format_duration(target.replica_set.selection_timeout_ns)
        words.append(f"the primary of {target.replica_set.name} is followed, operations wait for it for {timeout}")
    twice = [name for name, is_sent in (("reads", target.retry_reads), ("writes", target.retry_writes)) if is_sent]
    if twice:
        words.append(f"{' and '.join(twice)} are sent once more after an error that allows it")
    return "".join(f"; {word}" for word in words)


def _reads(target: model.WireTarget) -> str:
    words = []
    if target.reads is not None:
        where = f" on {', '.join(target.reads.addresses)}" if target.reads.addresses else ""
        words.append(f"reads prefer {target.reads.mode}{where}")
    if target.read_concern is not None:
        words.append(f"read concern {target.read_concern}")
    return "".join(f"; {word}" for word in words)


def _write_concern(concern: model.WriteConcern | None) -> str:
    if concern is None:
        return "write concern left to the server"
    return f"write concern {write_concern_text(concern)}"


def _data(plan: model.Plan) -> str:
    data = plan.data
    mean_bytes = mean_document_bytes(data, plan.seed)
    bytes_text = units.format_bytes(mean_bytes * data.record_count, digits=2)
    first = f" from record {units.format_count(data.insert_start)} on" if data.insert_start else ""
    return (
        f"{units.counted(data.record_count, 'document')}{first} in "
        f"{plan.namespace.database}.{plan.namespace.collection}, "
        f"{_fields(data)}, about {bytes_text} in all; keys {data.insert_order}"
    )


def _fields(data: model.DocumentPlan) -> str:
    if data.template is None:
        derived = ", which follow from key and field" if data.values == "derived" else ""
        return f"{units.counted(data.field_count, 'field')} of {_length(data.field_length, 'byte')} each{derived}"
    return f"{units.counted(data.field_count, 'field')} ({', '.join(field['name'] for field in data.template)})"


def _returned(work: model.MixWork) -> str:
    if not work.read_all_fields:
        return "one field"
    named = ", each of whose fields a read by key names" if work.name_read_fields else ""
    return f"the whole document{named}"


def _operations(work: model.MixWork) -> str:
    shares = work.proportions
    total = sum(shares.values())
    parts = [
        f"{units.format_percentage(share / total)} {name.replace('_', '-')}" for name, share in shares.items() if share
    ]
    sentence = ", ".join(parts)
    if shares["scan"]:
        sentence += f"; a scan asks for {_length(work.scan_length, 'document')}"
    transaction = work.transaction or model.Transaction(reads=0, updates=0)
    if work.transaction is not None:
        sentence += f"; a transaction is {_statements(transaction)} and a commit"
    kinds = [KINDS[name] for name, share in shares.items() if share]
    if any(kind.reads_by_key for kind in kinds) or shares["scan"] or transaction.reads:
        sentence += f"; reads return {_returned(work)}"
    if work.insert_batch_size > 1:
        sentence += f"; an insert is of {units.counted(work.insert_batch_size, 'document')}"
    if work.upsert:
        sentence += "; inserts replace what is there (upsert)"
    if work.verify_reads:
        sentence += "; what reads by key bring is compared with what was written"
    if any(kind.updates_by_key for kind in kinds) or transaction.updates:
        sentence += f"; updates replace {'every field' if work.write_all_fields else 'one field'}"
    return sentence


def _statements(transaction: model.Transaction) -> str:
    counts = ((transaction.reads, "read"), (transaction.updates, "update"))
    return ", ".join(units.counted(count, noun) for count, noun in counts if count)


def _loading(work: model.LoadWork, data: model.DocumentPlan) -> str:
    count = model.records_to_load(work, data)
    batch = units.counted(min(work.batch_size, count), "document")
    which = "every document" if work.ranges is None else f"the {units.counted(count, 'document')} still missing"
    sentence = f"insert {which} once, {batch} per {'ordered' if work.ordered else 'unordered'} command"
    if work.insert_retries is not None:
        attempts = units.counted(work.insert_retries.limit, "further attempt")
        interval = units.duration_text(work.insert_retries.interval_ns)
        sentence += f"; what fails gets up to {attempts}, each after a rest of about {interval}"
    return sentence


def _keys(keys: keys_of_specs.Keys) -> str:
    match keys:
        case keys_of_specs.UniformKeys():
            return "uniform, every record equally often"
        case keys_of_specs.SequentialKeys():
            return "sequential, one record after the other"
        case keys_of_specs.ZipfianKeys():
            return f"zipfian with theta {keys.theta:g}, a few records take most operations"
        case keys_of_specs.LatestKeys():
            return f"latest with theta {keys.theta:g}, mostly the newest records"
        case keys_of_specs.HotspotKeys():
            hot, share = (
                units.format_percentage(keys.data_fraction),
                units.format_percentage(keys.operation_fraction),
            )
            return f"hotspot, {hot} of the records take {share} of the operations"
        case keys_of_specs.ExponentialKeys():
            first = units.format_percentage(keys.fraction)
            return f"exponential, {keys.percentile:g} % of the operations go to {first} of the records"


def _time(plan: model.Plan) -> str:
    parts = [f"{units.duration_text(plan.warmup_ns)} warm-up" if plan.warmup_ns else "no warm-up"]
    ends = []
    if plan.duration_ns is not None:
        ends.append(f"{units.duration_text(plan.duration_ns)} measured")
    if plan.operation_count is not None:
        ends.append(f"{units.counted(plan.operation_count, 'operation')} in all")
    parts.append(" or ".join(ends) + (", whichever comes first" if len(ends) > 1 else ""))
    return f"{', then '.join(parts)}; a sample every {units.duration_text(plan.interval_ns)}"


def _length(length: model.LengthPlan, noun: str) -> str:
    match length:
        case lengths.ConstantLength():
            return units.counted(length.length, noun)
        case lengths.UniformLength():
            return f"{length.min} to {units.counted(length.max, noun)}"
        case lengths.ZipfianLength():
            return f"{length.min} to {units.counted(length.max, noun)}, mostly few"
        case model.HistogramLength():
            return f"{len(length.weights)} different lengths in {noun}s"
