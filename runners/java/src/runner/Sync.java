package runner;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.TransactionOptions;
import com.mongodb.client.AggregateIterable;
import com.mongodb.client.ClientSession;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonValue;
import org.bson.Document;

/** The blocking driver of MongoDB, one client for all workers. */
final class Sync extends Blocking {
    private final MongoClient client;

    Sync(MongoClientSettings settings, Frames frames, int workers) {
        super(frames);
        client = MongoClients.create(settings);
        client.getDatabase("admin").runCommand(new Document("ping", 1));
        start(workers);
    }

    @Override
    public String driver() {
        return "mongodb-driver-sync";
    }

    @Override
    public void end() {
        Document ends = sessions.end();
        if (ends != null) {
            try {
                client.withTimeout(Sessions.END_WITHIN_MS, TimeUnit.MILLISECONDS).getDatabase("admin").runCommand(ends);
            } catch (MongoException unreachable) {
                // Then its transactions end by the server's own time.
            }
        }
    }

    @Override
    public void close() {
        client.close();
    }

    @Override
    Worker worker() {
        return new Worker() {
            private ClientSession session;

            @Override
            public Call prepare(Command command) {
                if (command.isInside && session == null) {
                    session = client.startSession();
                    sessions.add(session.getServerSession().getIdentifier());
                }
                return call(command, command.isInside ? session : null);
            }
        };
    }

    @Override
    Done failed(Exception error) {
        return Done.of(error);
    }

    private Call call(Command command, ClientSession session) {
        if (command.begins) {
            if (session.hasActiveTransaction()) {
                session.abortTransaction();
            }
            TransactionOptions.Builder options = TransactionOptions.builder();
            if (command.readConcern != null) {
                options.readConcern(command.readConcern);
            }
            session.startTransaction(options.build());
        }
        Document body = command.body;
        MongoDatabase database = client.getDatabase((String) body.remove("$db"));
        switch (command.name) {
            case "commitTransaction":
                return () -> {
                    session.commitTransaction();
                    return Done.answered(Done.ok());
                };
            case "abortTransaction":
                return () -> {
                    session.abortTransaction();
                    return Done.answered(Done.ok());
                };
            case "find", "aggregate", "distinct", "insert", "update", "delete", "findAndModify":
                break;
            default:
                return () -> Replies.asItIs(
                        session == null ? database.runCommand(body) : database.runCommand(session, body));
        }
        MongoCollection<Document> collection = database.getCollection((String) body.remove(command.name));
        if (command.readConcern != null && session == null) {
            collection = collection.withReadConcern(command.readConcern);
        }
        if (command.writeConcern != null && session == null) {
            collection = collection.withWriteConcern(command.writeConcern);
        }
        return switch (command.name) {
            case "find" -> find(collection, command, session);
            case "aggregate" -> aggregate(collection, command, session);
            case "distinct" -> distinct(collection, body, session);
            case "insert" -> insert(collection, body, session);
            case "update" -> update(collection, body, session);
            case "delete" -> delete(collection, body, session);
            default -> findAndModify(collection, body, session);
        };
    }

    private static Call find(MongoCollection<Document> collection, Command command, ClientSession session) {
        Document body = command.body;
        Document filter = Options.document(body, "filter");
        filter = filter == null ? new Document() : filter;
        FindIterable<Document> find = session == null ? collection.find(filter) : collection.find(session, filter);
        find.projection(Options.document(body, "projection")).sort(Options.document(body, "sort"));
        Integer skip = Options.number(body, "skip");
        Integer limit = Options.number(body, "limit");
        Integer batchSize = Options.number(body, "batchSize");
        if (skip != null) {
            find.skip(skip);
        }
        if (Options.flag(body, "singleBatch", false)) {
            find.limit(-Math.abs(limit != null && limit != 0 ? limit : batchSize != null ? batchSize : 101));
        } else if (limit != null) {
            find.limit(limit);
        }
        if (batchSize != null) {
            find.batchSize(batchSize);
        }
        Object hint = body.remove("hint");
        if (hint instanceof String name) {
            find.hintString(name);
        } else if (hint != null) {
            find.hint((Document) hint);
        }
        find.collation(Options.collation(body)).let(Options.document(body, "let"));
        if (body.remove("allowDiskUse") instanceof Boolean allowed) {
            find.allowDiskUse(allowed);
        }
        Options.end(body);
        if (limit != null && limit == 1) {
            return () -> {
                Document first = find.first();
                return Replies.found(first == null ? List.of() : List.of(first), command.wantsDocuments);
            };
        }
        return () -> Replies.found(find.into(new ArrayList<>()), command.wantsDocuments);
    }

    private static Call aggregate(MongoCollection<Document> collection, Command command, ClientSession session) {
        Document body = command.body;
        List<Document> pipeline = Options.documents(body, "pipeline");
        AggregateIterable<Document> aggregate =
                session == null ? collection.aggregate(pipeline) : collection.aggregate(session, pipeline);
        Document cursor = Options.document(body, "cursor");
        Integer batchSize = cursor == null ? null : Options.number(cursor, "batchSize");
        if (batchSize != null) {
            aggregate.batchSize(batchSize);
        }
        Object hint = body.remove("hint");
        if (hint instanceof String name) {
            aggregate.hintString(name);
        } else if (hint != null) {
            aggregate.hint((Document) hint);
        }
        aggregate.collation(Options.collation(body)).let(Options.document(body, "let"));
        if (body.remove("allowDiskUse") instanceof Boolean allowed) {
            aggregate.allowDiskUse(allowed);
        }
        if (body.remove("bypassDocumentValidation") instanceof Boolean bypass) {
            aggregate.bypassDocumentValidation(bypass);
        }
        Options.end(body);
        return () -> Replies.found(aggregate.into(new ArrayList<>()), command.wantsDocuments);
    }

    private static Call distinct(MongoCollection<Document> collection, Document body, ClientSession session) {
        String key = (String) body.remove("key");
        Document asked = Options.document(body, "query");
        Document query = asked == null ? new Document() : asked;
        var distinct = session == null
                ? collection.distinct(key, query, BsonValue.class)
                : collection.distinct(session, key, query, BsonValue.class);
        distinct.collation(Options.collation(body));
        Options.end(body);
        return () -> Done.answered(Done.ok().append("values", new BsonArray(distinct.into(new ArrayList<>()))));
    }

    private static Call insert(MongoCollection<Document> collection, Document body, ClientSession session) {
        List<Document> documents = Options.documents(body, "documents");
        boolean ordered = Options.flag(body, "ordered", true);
        if (documents.size() == 1) {
            Document document = documents.get(0);
            var options = Options.insertOne(body);
            return () -> {
                if (session == null) {
                    collection.insertOne(document, options);
                } else {
                    collection.insertOne(session, document, options);
                }
                return Done.answered(Done.ok(1));
            };
        }
        var options = Options.insertMany(body, ordered);
        return () -> {
            var result = session == null
                    ? collection.insertMany(documents, options)
                    : collection.insertMany(session, documents, options);
            return Done.answered(Done.ok(result.getInsertedIds().size()));
        };
    }

    @SuppressWarnings("unchecked")
    private static Call update(MongoCollection<Document> collection, Document body, ClientSession session) {
        List<Document> statements = Options.documents(body, "updates");
        boolean ordered = Options.flag(body, "ordered", true);
        if (statements.size() > 1) {
            return bulk(collection, statements, true, ordered, body, session);
        }
        Document statement = statements.get(0);
        Document filter = Options.document(statement, "q");
        Object update = statement.remove("u");
        boolean many = Options.flag(statement, "multi", false);
        if (Options.replaces(update)) {
            var options = Options.replace(statement, body);
            Options.end(body);
            Document whole = (Document) update;
            return () -> Replies.updated(session == null
                    ? collection.replaceOne(filter, whole, options)
                    : collection.replaceOne(session, filter, whole, options));
        }
        var options = Options.update(statement, body);
        Options.end(body);
        if (update instanceof List<?> list) {
            List<Document> stages = (List<Document>) list;
            if (many) {
                return () -> Replies.updated(session == null
                        ? collection.updateMany(filter, stages, options)
                        : collection.updateMany(session, filter, stages, options));
            }
            return () -> Replies.updated(session == null
                    ? collection.updateOne(filter, stages, options)
                    : collection.updateOne(session, filter, stages, options));
        }
        Document operators = (Document) update;
        if (many) {
            return () -> Replies.updated(session == null
                    ? collection.updateMany(filter, operators, options)
                    : collection.updateMany(session, filter, operators, options));
        }
        return () -> Replies.updated(session == null
                ? collection.updateOne(filter, operators, options)
                : collection.updateOne(session, filter, operators, options));
    }

    private static Call delete(MongoCollection<Document> collection, Document body, ClientSession session) {
        List<Document> statements = Options.documents(body, "deletes");
        boolean ordered = Options.flag(body, "ordered", true);
        if (statements.size() > 1) {
            return bulk(collection, statements, false, ordered, body, session);
        }
        Document statement = statements.get(0);
        Document filter = Options.document(statement, "q");
        Integer limit = Options.number(statement, "limit");
        var options = Options.delete(statement, body);
        Options.end(body);
        if (limit == null || limit == 0) {
            return () -> Replies.deleted(session == null
                    ? collection.deleteMany(filter, options)
                    : collection.deleteMany(session, filter, options));
        }
        return () -> Replies.deleted(session == null
                ? collection.deleteOne(filter, options)
                : collection.deleteOne(session, filter, options));
    }

    private static Call bulk(
            MongoCollection<Document> collection,
            List<Document> statements,
            boolean areUpdates,
            boolean ordered,
            Document body,
            ClientSession session) {
        var models = Options.models(statements, areUpdates);
        var options = Options.bulk(body, ordered);
        return () -> Replies.written(session == null
                ? collection.bulkWrite(models, options)
                : collection.bulkWrite(session, models, options));
    }

    @SuppressWarnings("unchecked")
    private static Call findAndModify(MongoCollection<Document> collection, Document body, ClientSession session) {
        Document asked = Options.document(body, "query");
        Document filter = asked == null ? new Document() : asked;
        Object update = body.remove("update");
        boolean isKnown = !(Boolean.TRUE.equals(body.get("upsert")) && Boolean.TRUE.equals(body.get("new")));
        Function<Document, Done> reply = isKnown ? Replies::modified : Replies::removed;
        if (Options.flag(body, "remove", false)) {
            var options = Options.findOneAndDelete(body);
            return () -> Replies.removed(session == null
                    ? collection.findOneAndDelete(filter, options)
                    : collection.findOneAndDelete(session, filter, options));
        }
        if (Options.replaces(update)) {
            var options = Options.findOneAndReplace(body);
            Document whole = (Document) update;
            return () -> reply.apply(session == null
                    ? collection.findOneAndReplace(filter, whole, options)
                    : collection.findOneAndReplace(session, filter, whole, options));
        }
        var options = Options.findOneAndUpdate(body);
        if (update instanceof List<?> list) {
            List<Document> stages = (List<Document>) list;
            return () -> reply.apply(session == null
                    ? collection.findOneAndUpdate(filter, stages, options)
                    : collection.findOneAndUpdate(session, filter, stages, options));
        }
        Document operators = (Document) update;
        return () -> reply.apply(session == null
                ? collection.findOneAndUpdate(filter, operators, options)
                : collection.findOneAndUpdate(session, filter, operators, options));
    }
}
