package peers;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import org.bson.Document;
import org.bson.types.Binary;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/** A thin binding of YCSB on the official blocking driver: one client for all threads, the commands of YCSB's own. */
public final class YcsbBinding extends DB {
  static final String URI = "mongodb.url";
  static final String DATABASE = "peers.database";
  static final String BATCH = "batchsize";

  private static final InsertManyOptions UNORDERED = new InsertManyOptions().ordered(false);
  private static MongoClient client;
  private static final LongAdder BATCHED = new LongAdder();
  private static CountDownLatch ready = new CountDownLatch(0);

  private final List<Document> pending = new ArrayList<>();
  private int batch;
  private String database;

  /** Opened when so many threads of YCSB have called `init`. */
  static CountDownLatch readyAfter(int threads) {
    ready = new CountDownLatch(threads);
    return ready;
  }

  /** Documents of batches that have been answered; YCSB itself counts a document before its batch is sent. */
  static long batchedDocuments() {
    return BATCHED.sum();
  }

  @Override
  public void init() {
    Properties properties = getProperties();
    batch = Integer.parseInt(properties.getProperty(BATCH, "1"));
    database = properties.getProperty(DATABASE);
    synchronized (YcsbBinding.class) {
      if (client == null) {
        client = MongoClients.create(properties.getProperty(URI));
        client.getDatabase(database).runCommand(new Document("ping", 1)); // it connects when it is first asked
      }
    }
    ready.countDown();
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    try {
      Document found = collection(table).find(Filters.eq("_id", key)).first();
      if (found == null) {
        return Status.NOT_FOUND;
      }
      found.forEach(
          (name, value) -> {
            if (value instanceof Binary binary) {
              result.put(name, new ByteArrayByteIterator(binary.getData()));
            }
          });
      return Status.OK;
    } catch (MongoException error) {
      return Status.ERROR;
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    try {
      Document fields = new Document();
      values.forEach((name, value) -> fields.append(name, new Binary(value.toArray())));
      long matched = collection(table).updateOne(Filters.eq("_id", key), new Document("$set", fields)).getMatchedCount();
      return matched == 1 ? Status.OK : Status.NOT_FOUND;
    } catch (MongoException error) {
      return Status.ERROR;
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    Document document = new Document("_id", key);
    values.forEach((name, value) -> document.append(name, new Binary(value.toArray())));
    try {
      if (batch == 1) {
        collection(table).insertOne(document);
        return Status.OK;
      }
      pending.add(document);
      if (pending.size() < batch) {
        return Status.BATCHED_OK;
      }
      collection(table).insertMany(pending, UNORDERED);
      BATCHED.add(pending.size());
      pending.clear();
      return Status.OK;
    } catch (MongoException error) {
      pending.clear();
      return Status.ERROR;
    }
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED;
  }

  @Override
  public Status scan(
      String table, String start, int count, Set<String> fields, Vector<java.util.HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  private MongoCollection<Document> collection(String name) {
    return client.getDatabase(database).getCollection(name);
  }
}
