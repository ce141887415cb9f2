package peers;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.result.UpdateResult;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.bson.Document;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** The official reactive driver: as many chains as connections, each sending the next operation when one completes. */
public final class ReactivePeer {
  private static final InsertManyOptions UNORDERED = new InsertManyOptions().ordered(false);

  private ReactivePeer() {}

  public static void main(String[] words) throws Exception {
    Arguments arguments = Arguments.parse(words);
    Records records = new Records(arguments.records());
    Window window = new Window();
    CountDownLatch ended = new CountDownLatch(arguments.threads());
    List<Tally> tallies = new ArrayList<>();
    try (MongoClient client = MongoClients.create(arguments.uri())) {
      MongoCollection<Document> collection =
          client.getDatabase(arguments.database()).getCollection(arguments.collection());
      connect(collection);
      for (int i = 0; i < arguments.threads(); i++) {
        Tally tally = new Tally(window);
        tallies.add(tally);
        SplittableRandom random = new SplittableRandom(arguments.seed() + i);
        new Chain(arguments, records, collection, random, window, tally, ended).next();
      }
      long windowNs = window.pass(arguments, () -> {}, () -> {});
      ended.await();
      Tally.report(tallies, windowNs, Versions.driver("mongodb-driver-reactivestreams"));
    }
  }

  /** Waits for the answer to a find of nothing: the driver connects when it is first asked. */
  private static void connect(MongoCollection<Document> collection) throws Exception {
    CompletableFuture<Void> answered = new CompletableFuture<>();
    collection
        .find(Filters.eq("_id", ""))
        .first()
        .subscribe(
            new Subscriber<Document>() {
              @Override
              public void onSubscribe(Subscription subscription) {
                subscription.request(1);
              }

              @Override
              public void onNext(Document found) {}

              @Override
              public void onError(Throwable error) {
                answered.completeExceptionally(error);
              }

              @Override
              public void onComplete() {
                answered.complete(null);
              }
            });
    answered.get();
  }

  /** One operation after another; its callbacks never overlap. */
  private record Chain(
      Arguments arguments,
      Records records,
      MongoCollection<Document> collection,
      SplittableRandom random,
      Window window,
      Tally tally,
      CountDownLatch ended) {

    void next() {
      if (!window.open()) {
        ended.countDown();
        return;
      }
      Publisher<?> operation = draw();
      operation.subscribe(new Ending(System.nanoTime()));
    }

    private Publisher<?> draw() {
      if (arguments.isLoad()) {
        return arguments.batch() > 1
            ? collection.insertMany(records.next(random, arguments.batch()), UNORDERED)
            : collection.insertOne(records.next(random));
      }
      if (random.nextDouble() < arguments.readShare()) {
        return collection.find(Filters.eq("_id", records.choose(random))).first();
      }
      return collection.updateOne(Filters.eq("_id", records.choose(random)), records.change(random));
    }

    /** Waits for the end of one operation. */
    private final class Ending implements Subscriber<Object> {
      private final long sentNs;
      private boolean done;

      Ending(long sentNs) {
        this.sentNs = sentNs;
      }

      @Override
      public void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
      }

      @Override
      public void onNext(Object answer) {
        done = !(answer instanceof UpdateResult result) || result.getMatchedCount() == 1;
      }

      @Override
      public void onError(Throwable error) {
        tally.note(sentNs, arguments.batch(), false);
        next();
      }

      @Override
      public void onComplete() {
        tally.note(sentNs, arguments.batch(), done);
        next();
      }
    }
  }
}
