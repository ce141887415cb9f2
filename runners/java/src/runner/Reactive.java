package runner;

import com.mongodb.MongoClientSettings;
import com.mongodb.TransactionOptions;
import com.mongodb.reactivestreams.client.AggregatePublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonValue;
import org.bson.Document;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The reactive driver: as many commands under way as there are workers, one client for all of them, no thread of a worker's own. */
final class Reactive implements Client {
    private final MongoClient client;
    private final Frames frames;
    private final Sessions sessions = new Sessions();
    private final List<Worker> workers = new ArrayList<>();
    /** Has commands wait until they are due. */
    private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "later");
        thread.setDaemon(true);
        return thread;
    });

    Reactive(MongoClientSettings settings, Frames frames, int workerCount) {
        this.frames = frames;
        client = MongoClients.create(settings);
        Mono.from(client.getDatabase("admin").runCommand(new Document("ping", 1))).block();
        for (int worker = 0; worker < workerCount; worker++) {
            workers.add(new Worker());
        }
    }

    @Override
    public void take(Command command) {
        workers.get(Integer.remainderUnsigned(command.place, workers.size())).take(command);
    }

    @Override
    public String driver() {
        return "mongodb-driver-reactivestreams";
    }

    @Override
    public void end() {
        Document ends = sessions.end();
        if (ends != null) {
            try {
                Mono.from(client.getDatabase("admin").runCommand(ends))
                        .block(Duration.ofMillis(Sessions.END_WITHIN_MS));
            } catch (RuntimeException unreachable) {
                // Then its transactions end by the server's own time.
            }
        }
    }

    @Override
    public void close() {
        client.close();
    }

    /** What is prepared, and subscribed to once it is due. */
    private interface Call {
        Mono<Done> run();
    }

    /** A command after the other. */
    private final class Worker {
        private final ArrayDeque<Command> commands = new ArrayDeque<>();
        private boolean isBusy;
        private ClientSession session;

        void take(Command command) {
            synchronized (this) {
                if (isBusy) {
                    commands.add(command);
                    return;
                }
                isBusy = true;
            }
            begin(command);
        }

        private void begin(Command command) {
            if (!sessions.enters()) {
                return;
            }
            if (!command.isInside || session != null) {
                perform(command);
                return;
            }
            Mono.from(client.startSession()).subscribe(
                    made -> {
                        session = made;
                        sessions.add(made.getServerSession().getIdentifier());
                        perform(command);
                    },
                    error -> end(command, Done.of(error), System.nanoTime()));
        }

        private void perform(Command command) {
            Call call;
            try {
                call = call(command, command.isInside ? session : null);
            } catch (RuntimeException error) {
                end(command, Done.of(error), System.nanoTime());
                return;
            }
            long waitNs = command.dueNs == 0 ? 0 : command.dueNs - System.nanoTime();
            if (waitNs > 0) {
                later.schedule(() -> run(command, call), waitNs, TimeUnit.NANOSECONDS);
            } else {
                run(command, call);
            }
        }

        private void run(Command command, Call call) {
            long sentNs = System.nanoTime();
            call.run().subscribe(
                    done -> end(command, done, sentNs), error -> end(command, Done.of(error), sentNs));
        }

        private void end(Command command, Done done, long sentNs) {
            frames.reply(command, done, sentNs, System.nanoTime());
            sessions.leave();
            Command next;
            synchronized (this) {
                next = commands.poll();
                isBusy = next != null;
            }
            if (next != null) {
                begin(next);
            }
        }
    }

    private static <T> Mono<Done> of(Publisher<T> publisher, java.util.function.Function<T, Done> reply) {
        return Mono.from(publisher).map(reply);
    }

    /** The first of a publisher that may have none. */
    private static Mono<Done> first(Publisher<Document> publisher, java.util.function.Function<Document, Done> reply) {
        return Mono.from(publisher).map(reply).switchIfEmpty(Mono.fromSupplier(() -> reply.apply(null)));
    }

    private static Mono<Done> nothing(Publisher<Void> publisher) {
        return Mono.from(publisher).thenReturn(Done.answered(Done.ok()));
    }

    private Call call(Command command, ClientSession session) {
        if (command.begins && session.hasActiveTransaction()) {
            // What was left of the one before is ended first.
            Mono<Void> before = Mono.from(session.abortTransaction());
            return () -> before.then(Mono.defer(() -> call(command, session).run()));
        }
        if (command.begins) {
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
                return () -> nothing(session.commitTransaction());
            case "abortTransaction":
                return () -> nothing(session.abortTransaction());
            case "find", "aggregate", "distinct", "insert", "update", "delete", "findAndModify":
                break;
            default:
                return () -> of(
                        session == null ? database.runCommand(body) : database.runCommand(session, body),
                        Replies::asItIs);
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
        FindPublisher<Document> find = session == null ? collection.find(filter) : collection.find(session, filter);
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
            return () -> first(
                    find.first(),
                    first -> Replies.found(first == null ? List.of() : List.of(first), command.wantsDocuments));
        }
        return () -> Flux.from(find).collectList().map(all -> Replies.found(all, command.wantsDocuments));
    }

    private static Call aggregate(MongoCollection<Document> collection, Command command, ClientSession session) {
        Document body = command.body;
        List<Document> pipeline = Options.documents(body, "pipeline");
        AggregatePublisher<Document> aggregate =
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
        return () -> Flux.from(aggregate).collectList().map(all -> Replies.found(all, command.wantsDocuments));
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
        return () -> Flux.from(distinct)
                .collectList()
                .map(values -> Done.answered(Done.ok().append("values", new BsonArray(values))));
    }

    private static Call insert(MongoCollection<Document> collection, Document body, ClientSession session) {
        List<Document> documents = Options.documents(body, "documents");
        boolean ordered = Options.flag(body, "ordered", true);
        if (documents.size() == 1) {
            Document document = documents.get(0);
            var options = Options.insertOne(body);
            return () -> of(
                    session == null
                            ? collection.insertOne(document, options)
                            : collection.insertOne(session, document, options),
                    result -> Done.answered(Done.ok(1)));
        }
        var options = Options.insertMany(body, ordered);
        return () -> of(
                session == null
                        ? collection.insertMany(documents, options)
                        : collection.insertMany(session, documents, options),
                result -> Done.answered(Done.ok(result.getInsertedIds().size())));
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
            return () -> of(session == null
                    ? collection.replaceOne(filter, whole, options)
                    : collection.replaceOne(session, filter, whole, options), Replies::updated);
        }
        var options = Options.update(statement, body);
        Options.end(body);
        if (update instanceof List<?> list) {
            List<Document> stages = (List<Document>) list;
            if (many) {
                return () -> of(session == null
                        ? collection.updateMany(filter, stages, options)
                        : collection.updateMany(session, filter, stages, options), Replies::updated);
            }
            return () -> of(session == null
                    ? collection.updateOne(filter, stages, options)
                    : collection.updateOne(session, filter, stages, options), Replies::updated);
        }
        Document operators = (Document) update;
        if (many) {
            return () -> of(session == null
                    ? collection.updateMany(filter, operators, options)
                    : collection.updateMany(session, filter, operators, options), Replies::updated);
        }
        return () -> of(session == null
                ? collection.updateOne(filter, operators, options)
                : collection.updateOne(session, filter, operators, options), Replies::updated);
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
            return () -> of(session == null
                    ? collection.deleteMany(filter, options)
                    : collection.deleteMany(session, filter, options), Replies::deleted);
        }
        return () -> of(session == null
                ? collection.deleteOne(filter, options)
                : collection.deleteOne(session, filter, options), Replies::deleted);
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
        return () -> of(session == null
                ? collection.bulkWrite(models, options)
                : collection.bulkWrite(session, models, options), Replies::written);
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
            return () -> first(session == null
                    ? collection.findOneAndDelete(filter, options)
                    : collection.findOneAndDelete(session, filter, options), Replies::removed);
        }
        if (Options.replaces(update)) {
            var options = Options.findOneAndReplace(body);
            Document whole = (Document) update;
            return () -> first(session == null
                    ? collection.findOneAndReplace(filter, whole, options)
                    : collection.findOneAndReplace(session, filter, whole, options), reply);
        }
        var options = Options.findOneAndUpdate(body);
        if (update instanceof List<?> list) {
            List<Document> stages = (List<Document>) list;
            return () -> first(session == null
                    ? collection.findOneAndUpdate(filter, stages, options)
                    : collection.findOneAndUpdate(session, filter, stages, options), reply);
        }
        Document operators = (Document) update;
        return () -> first(session == null
                ? collection.findOneAndUpdate(filter, operators, options)
                : collection.findOneAndUpdate(session, filter, operators, options), reply);
    }
}
