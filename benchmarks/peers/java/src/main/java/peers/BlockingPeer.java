package peers;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.bson.Document;
import org.bson.conversions.Bson;

/** The official blocking driver: as many threads as connections, each in a plain loop. */
public final class BlockingPeer {
  private static final InsertManyOptions UNORDERED = new InsertManyOptions().ordered(false);

  private BlockingPeer() {}

  public static void main(String[] words) throws Exception {
    Arguments arguments = Arguments.parse(words);
    Records records = new Records(arguments.records());
    Window window = new Window();
    List<Tally> tallies = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    try (MongoClient client = MongoClients.create(arguments.uri())) {
      MongoCollection<Document> collection =
          client.getDatabase(arguments.database()).getCollection(arguments.collection());
      collection.find(Filters.eq("_id", "")).first();
      for (int i = 0; i < arguments.threads(); i++) {
        Tally tally = new Tally(window);
        SplittableRandom random = new SplittableRandom(arguments.seed() + i);
        tallies.add(tally);
        threads.add(new Thread(() -> loop(arguments, records, collection, random, window, tally)));
      }
      threads.forEach(Thread::start);
      long windowNs = window.pass(arguments, () -> {}, () -> {});
      for (Thread thread : threads) {
        thread.join();
      }
      Tally.report(tallies, windowNs, Versions.driver("mongodb-driver-sync"));
    }
  }

  private static void loop(
      Arguments arguments,
      Records records,
      MongoCollection<Document> collection,
      SplittableRandom random,
      Window window,
      Tally tally) {
    while (window.open()) {
      long sentNs = System.nanoTime();
      boolean done = true;
      try {
        if (arguments.isLoad() && arguments.batch() > 1) {
          List<Document> documents = records.next(random, arguments.batch());
          sentNs = System.nanoTime();
          collection.insertMany(documents, UNORDERED);
        } else if (arguments.isLoad()) {
          collection.insertOne(records.next(random));
        } else if (random.nextDouble() < arguments.readShare()) {
          done = collection.find(Filters.eq("_id", records.choose(random))).first() != null;
        } else {
          Bson key = Filters.eq("_id", records.choose(random));
          done = collection.updateOne(key, records.change(random)).getMatchedCount() == 1;
        }
      } catch (MongoException error) {
        done = false;
      }
      tally.note(sentNs, arguments.batch(), done);
    }
  }
}
