// The runner of the driver for Node.js: as many commands under way as there are workers, one client for all of them.
// docs/reference/runners.md describes the frames.

import fs from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";
import { createRequire } from "node:module";
import { MongoClient, BSON, Long, MongoBulkWriteError, MongoNetworkError, MongoNetworkTimeoutError, MongoServerError,
  MongoServerSelectionError, MongoWriteConcernError } from "mongodb";

const VERSION = 1;
const [OPEN, COMMAND, CLOCK, USE] = [1, 2, 3, 4];
const [READY, REPLY, CLOCK_IS, USED, FAILED] = [1, 2, 3, 4, 5];
const [ANSWERED, LOST, TIMED_OUT, NO_CONNECTION, REFUSED] = [0, 1, 2, 3, 4];
const FRAME_BYTES_MAX = 64 << 20;
// Values keep their types on the way through: a double that is whole stays one.
const EXACT = { promoteValues: false };

class Misfit extends Error {}

// Frames to the engine. Pipes are written at once, so that a reply waits for nothing.
function write(buffer) {
  for (let at = 0; at < buffer.length;) {
    try {
      at += fs.writeSync(1, buffer, at);
    } catch (error) {
      if (error.code !== "EAGAIN") return; // the engine is gone, which the end of its frames tells
    }
  }
}

function send(kind, document) {
  const body = BSON.serialize(document);
  const frame = Buffer.allocUnsafe(5 + body.length);
  frame.writeUInt32LE(body.length + 1, 0);
  frame[4] = kind;
  frame.set(body, 5);
  write(frame);
}

function reply(command, done, sent, end) {
  const body = BSON.serialize(done.body);
  const frame = Buffer.allocUnsafe(42 + body.length);
  frame.writeUInt32LE(38 + body.length, 0);
  frame[4] = REPLY;
  frame.writeUInt32LE(command.place, 5);
  frame.writeUInt32LE(command.number, 9);
  frame[13] = done.outcome ?? ANSWERED;
  frame.writeBigUInt64LE(sent, 14);
  frame.writeBigUInt64LE(end, 22);
  frame.writeUInt32LE(done.documents ?? 0, 30);
  frame.writeBigUInt64LE(0n, 34);
  frame.set(body, 42);
  write(frame);
}

function commandOf(content) {
  const body = BSON.deserialize(content.subarray(17), EXACT);
  const name = Object.keys(body)[0];
  const terms = { begins: body.startTransaction === true, isInside: "autocommit" in body };
  for (const field of ["lsid", "txnNumber", "startTransaction", "autocommit"]) delete body[field];
  const concerns = {};
  for (const field of ["readConcern", "writeConcern"]) {
    if (body[field] !== undefined) concerns[field] = plain(body[field]);
    delete body[field];
  }
  return {
    place: content.readUInt32LE(0),
    number: content.readUInt32LE(4),
    wantsDocuments: (content[16] & 1) !== 0,
    body,
    name,
    concerns,
    ...terms,
  };
}

// Options in JavaScript's own types.
function plain(value) {
  if (value === null || typeof value !== "object") return value;
  if (value instanceof Long) return value.toNumber();
  if (value._bsontype === "Int32" || value._bsontype === "Double") return value.value;
  if (value._bsontype) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

function take(from, name) {
  const value = from[name];
  delete from[name];
  return value;
}

// The fields of a command as the driver's options. What it says besides is what the driver has no word for.
function options(from, names) {
  const given = {};
  for (const [field, name] of Object.entries(names)) {
    const value = take(from, field);
    if (value !== undefined) given[name] = name === "arrayFilters" || name === "let" ? value : plain(value);
  }
  const left = Object.keys(from);
  if (left.length > 0) throw new Misfit(`the driver has no word for ${left.join(", ")}`);
  return given;
}

const same = (...names) => Object.fromEntries(names.map((name) => [name, name]));
const FIND = same("projection", "sort", "skip", "limit", "hint", "batchSize", "collation", "let", "allowDiskUse",
  "singleBatch", "maxTimeMS", "comment");
const AGGREGATE = same("hint", "collation", "let", "allowDiskUse", "bypassDocumentValidation", "maxTimeMS", "comment");
const STATEMENT = same("upsert", "arrayFilters", "hint", "collation");
const WRITE = same("let", "bypassDocumentValidation", "comment");
const MODIFY = { ...same("sort", "upsert", "arrayFilters", "hint", "collation", "let", "bypassDocumentValidation",
  "maxTimeMS", "comment"), fields: "projection" };

const replaces = (update) => !Array.isArray(update) && !(Object.keys(update)[0] ?? "").startsWith("$");

const found = (documents, command) => ({
  body: { ok: 1, cursor: { id: Long.ZERO, firstBatch: command.wantsDocuments ? documents.slice(0, 1) : [] } },
  documents: documents.length,
});

const updated = (result) => ({
  body: result.upsertedId === null || result.upsertedId === undefined
    ? { ok: 1, n: result.matchedCount, nModified: result.modifiedCount }
    : { ok: 1, n: 1, nModified: 0, upserted: [{ index: 0, _id: result.upsertedId }] },
});

function written(result) {
  const body = { ok: 1, n: result.matchedCount + result.deletedCount + result.upsertedCount,
    nModified: result.modifiedCount };
  if (result.upsertedCount > 0) {
    body.upserted = Object.entries(result.upsertedIds).map(([index, _id]) => ({ index: Number(index), _id }));
  }
  return { body };
}

const MAKERS = {
  find(collection, command, session) {
    const { body } = command;
    const filter = take(body, "filter") ?? {};
    const given = options(body, FIND);
    if (given.limit === 1) {
      delete given.limit;
      delete given.singleBatch;
      return async () => {
        const document = await collection.findOne(filter, { ...EXACT, ...given, session });
        return found(document === null ? [] : [document], command);
      };
    }
    return async () => found(await collection.find(filter, { ...EXACT, ...given, session }).toArray(), command);
  },
  aggregate(collection, command, session) {
    const { body } = command;
    const pipeline = take(body, "pipeline");
    const cursor = plain(take(body, "cursor") ?? {});
    const given = { ...options(body, AGGREGATE), ...cursor };
    return async () => found(await collection.aggregate(pipeline, { ...EXACT, ...given, session }).toArray(), command);
  },
  distinct(collection, { body }, session) {
    const key = take(body, "key");
    const query = take(body, "query") ?? {};
    const given = options(body, same("collation", "maxTimeMS", "comment"));
    return async () => ({ body: { ok: 1, values: await collection.distinct(key, query, { ...EXACT, ...given, session }) } });
  },
  insert(collection, { body }, session) {
    const documents = take(body, "documents");
    const ordered = take(body, "ordered") ?? true;
    const given = options(body, WRITE);
    if (documents.length === 1) {
      return async () => {
        await collection.insertOne(documents[0], { ...given, session });
        return { body: { ok: 1, n: 1 } };
      };
    }
    return async () => {
      const result = await collection.insertMany(documents, { ...given, ordered, session });
      return { body: { ok: 1, n: result.insertedCount } };
    };
  },
  update(collection, { body }, session) {
    const statements = take(body, "updates");
    const ordered = take(body, "ordered") ?? true;
    if (statements.length > 1) {
      const models = statements.map((statement) => {
        const [filter, update, many] = [take(statement, "q"), take(statement, "u"), take(statement, "multi") === true];
        const given = options(statement, STATEMENT);
        if (replaces(update)) return { replaceOne: { filter, replacement: update, ...given } };
        return { [many ? "updateMany" : "updateOne"]: { filter, update, ...given } };
      });
      return bulk(collection, models, ordered, body, session);
    }
    const [statement] = statements;
    const [filter, update, many] = [take(statement, "q"), take(statement, "u"), take(statement, "multi") === true];
    const given = { ...options(statement, STATEMENT), ...options(body, WRITE), session };
    if (replaces(update)) return async () => updated(await collection.replaceOne(filter, update, given));
    if (many) return async () => updated(await collection.updateMany(filter, update, given));
    return async () => updated(await collection.updateOne(filter, update, given));
  },
  delete(collection, { body }, session) {
    const statements = take(body, "deletes");
    const ordered = take(body, "ordered") ?? true;
    const models = statements.map((statement) => {
      const [filter, limit] = [take(statement, "q"), plain(take(statement, "limit") ?? 0)];
      return [limit === 0, { filter, ...options(statement, same("hint", "collation")) }];
    });
    if (models.length > 1) {
      const made = models.map(([many, model]) => ({ [many ? "deleteMany" : "deleteOne"]: model }));
      return bulk(collection, made, ordered, body, session);
    }
    const [[many, { filter, ...rest }]] = models;
    const given = { ...rest, ...options(body, same("let", "comment")), session };
    return async () => {
      const result = many ? await collection.deleteMany(filter, given) : await collection.deleteOne(filter, given);
      return { body: { ok: 1, n: result.deletedCount } };
    };
  },
  findAndModify(collection, { body }, session) {
    const filter = take(body, "query") ?? {};
    const update = take(body, "update");
    const remove = take(body, "remove") === true;
    const returnDocument = take(body, "new") === true ? "after" : "before";
    const given = { ...EXACT, ...options(body, MODIFY), session };
    if (remove) return async () => ({ body: { ok: 1, value: await collection.findOneAndDelete(filter, given) } });
    // The driver doesn't say whether a document that is shown as it is afterwards was there before.
    const isKnown = !(given.upsert && returnDocument === "after");
    const modified = (value) => ({
      body: { ok: 1, value, ...(isKnown ? { lastErrorObject: { updatedExisting: value !== null } } : {}) },
    });
    const whole = { ...given, returnDocument };
    if (replaces(update)) return async () => modified(await collection.findOneAndReplace(filter, update, whole));
    return async () => modified(await collection.findOneAndUpdate(filter, update, whole));
  },
};

function bulk(collection, models, ordered, body, session) {
  const given = options(body, WRITE);
  return async () => written(await collection.bulkWrite(models, { ...given, ordered, session }));
}

// How the driver is asked for a command: what is called once it is due.
function callOf(client, command, session) {
  const { name, body, concerns } = command;
  if (name === "commitTransaction" || name === "abortTransaction") {
    return async () => {
      await session[name]();
      return { body: { ok: 1 } };
    };
  }
  const database = client.db(take(body, "$db"));
  const maker = MAKERS[name];
  if (maker === undefined) {
    return async () => {
      const answer = await database.command({ ...body, ...concerns }, { ...EXACT, session });
      for (const field of Object.keys(answer).filter((each) => each.startsWith("$"))) delete answer[field];
      return { body: answer };
    };
  }
  const collection = database.collection(take(body, name), session === undefined ? concerns : {});
  return maker(collection, command, session);
}

// What an error of the driver's amounts to: what the server said, in its own form, or that it said nothing.
function doneOf(error) {
  if (error instanceof MongoBulkWriteError) {
    const { result } = error;
    const body = { ok: 1, n: result.insertedCount + result.matchedCount + result.deletedCount + result.upsertedCount };
    const errors = [error.writeErrors].flat();
    if (errors.length > 0) {
      body.writeErrors = errors.map((each) => ({ index: each.index, code: each.code, errmsg: each.errmsg ?? "" }));
    }
    const concern = result.getWriteConcernError?.();
    if (concern !== undefined && concern !== null) body.writeConcernError = { code: concern.code, errmsg: concern.errmsg ?? "" };
    return { body };
  }
  if (error instanceof MongoWriteConcernError) {
    const concern = error.result?.writeConcernError ?? { code: error.code ?? 0, errmsg: error.message };
    return { body: { ok: 1, n: plain(error.result?.n) ?? 1, writeConcernError: concern } };
  }
  if (error instanceof MongoServerError) {
    const code = plain(error.code) ?? 0;
    const errmsg = String(error.errmsg ?? error.message);
    if (error.index !== undefined) return { body: { ok: 1, n: 0, writeErrors: [{ index: 0, code, errmsg }] } };
    const errorLabels = [...(error.errorLabels ?? [])];
    return { body: { ok: 0, code, codeName: String(error.codeName ?? ""), errmsg, errorLabels } };
  }
  const body = { message: String(error?.message ?? error), label: String(error?.name ?? "") };
  if (error instanceof MongoNetworkTimeoutError) return { body, outcome: TIMED_OUT };
  if (error?.name === "MongoWaitQueueTimeoutError") return { body, outcome: NO_CONNECTION };
  const isLost = error instanceof MongoNetworkError || error instanceof MongoServerSelectionError ||
    /^Mongo(PoolCleared|PoolClosed|Topology|NotConnected)/.test(error?.name ?? "");
  return { body, outcome: isLost ? LOST : REFUSED };
}

// Sessions that had transactions. They end with the runner: one that stays open would keep its locks for a minute.
const sessions = [];
let isOver = false;
let underWay = 0;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function endSessions(client) {
  isOver = true;
  if (sessions.length === 0) return;
  // What is under way is waited for: a transaction that begins after the end would stay.
  for (let waited = 0; underWay > 0 && waited < 500; waited += 5) await sleep(5);
  const ended = client.db("admin").command({ killSessions: sessions }).catch(() => {});
  await Promise.race([ended, sleep(1000)]);
}

// What one user of an application does: a command after the other.
class Worker {
  #client;
  #commands = [];
  #isBusy = false;
  #session;

  constructor(client) {
    this.#client = client;
  }

  take(command) {
    this.#commands.push(command);
    if (!this.#isBusy) this.#work();
  }

  async #work() {
    this.#isBusy = true;
    while (this.#commands.length > 0 && !isOver) {
      underWay += 1;
      await this.#perform(this.#commands.shift());
      underWay -= 1;
    }
    this.#isBusy = false;
  }

  #inside() {
    if (this.#session === undefined) {
      this.#session = this.#client.startSession();
      sessions.push(this.#session.id);
    }
    return this.#session;
  }

  async #perform(command) {
    let call;
    try {
      const session = command.isInside ? this.#inside() : undefined;
      if (command.begins) {
        if (session.inTransaction()) await session.abortTransaction();
        session.startTransaction(command.concerns.readConcern === undefined ? {} : { readConcern: command.concerns.readConcern });
      }
      call = callOf(this.#client, command, session);
    } catch (error) {
      const now = process.hrtime.bigint();
      reply(command, doneOf(error), now, now);
      return;
    }
    const sent = process.hrtime.bigint();
    let done;
    try {
      done = await call();
    } catch (error) {
      done = doneOf(error);
    }
    reply(command, done, sent, process.hrtime.bigint());
  }
}

// What the driver's pool tells of its connections and of waiting for one.
class Pool {
  created = 0;
  closed = 0;
  taken = 0;
  refused = 0;
  waitedMs = 0;
  waitedMaxMs = 0;
  // How often it took so long: the bits of the time in µs.
  waits = new Array(32).fill(0);

  constructor(client) {
    client.on("connectionCreated", () => (this.created += 1));
    client.on("connectionClosed", () => (this.closed += 1));
    client.on("connectionCheckedOut", (event) => {
      this.taken += 1;
      this.#waited(event.durationMS);
    });
    client.on("connectionCheckOutFailed", (event) => {
      this.refused += 1;
      this.#waited(event.durationMS);
    });
  }

  #waited(elapsedMs) {
    this.waitedMs += elapsedMs;
    this.waitedMaxMs = Math.max(this.waitedMaxMs, elapsedMs);
    const bits = 32 - Math.clz32(Math.min(Math.floor(elapsedMs * 1000), 2 ** 32 - 1));
    this.waits[Math.min(bits, this.waits.length - 1)] += 1;
  }
}

// How often the garbage collector ran, and how long.
const collections = { count: 0, ms: 0 };
const observer = new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    collections.count += 1;
    collections.ms += entry.duration;
  }
});
observer.observe({ entryTypes: ["gc"] });

const long = (value) => Long.fromNumber(Math.round(value));

// The most memory of this program. That of resourceUsage begins with that of the process that started it.
function memoryPeak() {
  const told = /^VmHWM:\s*(\d+) kB$/m.exec(fs.readFileSync("/proc/self/status", "utf8"));
  return told === null ? {} : { memory_peak_bytes: long(Number(told[1]) * 1024) };
}

function used(pool) {
  const cpu = process.cpuUsage();
  return {
    cpu_ns: long((cpu.user + cpu.system) * 1000),
    ...memoryPeak(),
    collections: long(collections.count),
    collections_ns: long(collections.ms * 1e6),
    connections_created: long(pool.created),
    connections_closed: long(pool.closed),
    pool_taken: long(pool.taken),
    pool_refused: long(pool.refused),
    pool_waited_ns: long(pool.waitedMs * 1e6),
    pool_waited_max_ns: long(pool.waitedMaxMs * 1e6),
    pool_waits: pool.waits.map(long),
  };
}

function ready() {
  const { version } = createRequire(import.meta.url)("mongodb/package.json");
  return {
    version: Long.fromNumber(VERSION),
    client: "node",
    driver: "mongodb",
    driver_version: version,
    runtime: "Node.js",
    runtime_version: process.versions.node,
    // Timers have a grain of a millisecond, so that what is due comes when it is.
    ahead_ns: Long.ZERO,
  };
}

// Frames from the engine: the first opens, the others are followed as they come.
let arrived = Buffer.alloc(0);
let follow = open;
let leave = () => process.exit(0);
let workers = [];

function* frames() {
  let at = 0;
  while (arrived.length - at >= 4) {
    const length = arrived.readUInt32LE(at);
    if (length < 1 || length > FRAME_BYTES_MAX) process.exit(0);
    if (arrived.length - at < 4 + length) break;
    yield [arrived[at + 4], arrived.subarray(at + 5, at + 4 + length)];
    at += 4 + length;
  }
  arrived = arrived.subarray(at);
}

async function open(kind, content) {
  if (kind !== OPEN) process.exit(0);
  const settings = BSON.deserialize(content);
  try {
    const client = new MongoClient(settings.uri, { socketTimeoutMS: Number(settings.operation_timeout_ms) });
    const pool = new Pool(client);
    await client.connect();
    await client.db("admin").command({ ping: 1 });
    workers = Array.from({ length: Number(settings.workers) }, () => new Worker(client));
    follow = (next, rest) => perform(client, pool, next, rest);
    leave = () => endSessions(client).finally(() => process.exit(0));
  } catch (error) {
    send(FAILED, { message: `${error.name}: ${error.message}` });
    process.exit(0);
  }
  send(READY, ready());
}

function perform(client, pool, kind, content) {
  if (kind === COMMAND) {
    const command = commandOf(content);
    workers[command.place % workers.length].take(command);
  } else if (kind === CLOCK) {
    const answer = Buffer.alloc(17);
    answer.writeUInt32LE(13, 0);
    answer[4] = CLOCK_IS;
    content.copy(answer, 5, 0, 4);
    answer.writeBigUInt64LE(process.hrtime.bigint(), 9);
    write(answer);
  } else if (kind === USE) {
    send(USED, used(pool));
  } else {
    endSessions(client).then(() => client.close()).finally(() => process.exit(0));
  }
}

process.on("SIGPIPE", () => {});
process.stdin.on("data", (chunk) => {
  arrived = arrived.length === 0 ? chunk : Buffer.concat([arrived, chunk]);
  for (const [kind, content] of frames()) follow(kind, content);
});
process.stdin.on("end", () => leave());
process.on("SIGTERM", () => leave());
