package runner;

import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.Document;

/** What the driver's results amount to as the server's replies. */
final class Replies {
    private Replies() {}

    /** Of a cursor: its first document only where that is wanted. */
    static Done found(List<Document> documents, boolean wantsDocuments) {
        BsonArray batch = new BsonArray();
        if (wantsDocuments && !documents.isEmpty()) {
            batch.add(Frames.raw(documents.get(0)));
        }
        BsonDocument cursor = new BsonDocument("id", new BsonInt64(0)).append("firstBatch", batch);
        return new Done(Done.ANSWERED, Done.ok().append("cursor", cursor), documents.size());
    }

    static Done updated(UpdateResult result) {
        if (result.getUpsertedId() == null) {
            return Done.answered(
                    Done.ok(result.getMatchedCount()).append("nModified", Done.number(result.getModifiedCount())));
        }
        BsonDocument upsert = new BsonDocument("index", new BsonInt32(0)).append("_id", result.getUpsertedId());
        return Done.answered(
                Done.ok(1).append("nModified", Done.number(0)).append("upserted", new BsonArray(List.of(upsert))));
    }

    static Done deleted(DeleteResult result) {
        return Done.answered(Done.ok(result.getDeletedCount()));
    }

    static Done written(BulkWriteResult result) {
        int upserted = result.getUpserts().size();
        BsonDocument reply = Done.ok((long) result.getMatchedCount() + result.getDeletedCount() + upserted)
                .append("nModified", Done.number(result.getModifiedCount()));
        if (upserted > 0) {
            BsonArray upserts = new BsonArray();
            result.getUpserts().forEach(each -> upserts.add(
                    new BsonDocument("index", new BsonInt32(each.getIndex())).append("_id", each.getId())));
            reply.append("upserted", upserts);
        }
        return Done.answered(reply);
    }

    static Done removed(Document found) {
        return Done.answered(Done.ok().append("value", found == null ? BsonNull.VALUE : Frames.raw(found)));
    }

    /** Of an update: the driver doesn't say whether a document that is shown as it is afterwards was there before. */
    static Done modified(Document found) {
        Done done = removed(found);
        done.body().append("lastErrorObject", new BsonDocument("updatedExisting", BsonBoolean.valueOf(found != null)));
        return done;
    }

    static Done asItIs(Document reply) {
        reply.keySet().removeIf(name -> name.startsWith("$"));
        return Done.answered(Frames.raw(reply));
    }
}
