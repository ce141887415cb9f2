package runner;

import com.mongodb.event.ConnectionCheckOutFailedEvent;
import com.mongodb.event.ConnectionCheckedOutEvent;
import com.mongodb.event.ConnectionClosedEvent;
import com.mongodb.event.ConnectionCreatedEvent;
import com.mongodb.event.ConnectionPoolListener;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt64;

/** What this process uses: processor, memory, collections of garbage, and the driver's pool by its own events. */
final class Use implements ConnectionPoolListener {
    private final LongAdder created = new LongAdder();
    private final LongAdder closed = new LongAdder();
    /** How many are open, of a pool that has no event for those that it closes. */
    private IntSupplier open;
    private final LongAdder taken = new LongAdder();
    private final LongAdder refused = new LongAdder();
    private final LongAdder waitedNs = new LongAdder();
    private final LongAccumulator waitedMaxNs = new LongAccumulator(Math::max, 0);

    /** How often it took so long: the bits of the time in µs. */
    private final AtomicLongArray waits = new AtomicLongArray(32);

    @Override
    public void connectionCreated(ConnectionCreatedEvent event) {
        created();
    }

    @Override
    public void connectionClosed(ConnectionClosedEvent event) {
        closed.increment();
    }

    @Override
    public void connectionCheckedOut(ConnectionCheckedOutEvent event) {
        taken(event.getElapsedTime(TimeUnit.NANOSECONDS));
    }

    @Override
    public void connectionCheckOutFailed(ConnectionCheckOutFailedEvent event) {
        refused(event.getElapsedTime(TimeUnit.NANOSECONDS));
    }

    void countsOpen(IntSupplier open) {
        this.open = open;
    }

    void created() {
        created.increment();
    }

    void taken(long waitedNs) {
        taken.increment();
        waited(waitedNs);
    }

    void refused(long waitedNs) {
        refused.increment();
        waited(waitedNs);
    }

    private void waited(long elapsedNs) {
        waitedNs.add(elapsedNs);
        waitedMaxNs.accumulate(elapsedNs);
        int bits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(elapsedNs, 0) / 1000);
        waits.incrementAndGet(Math.min(bits, waits.length() - 1));
    }

    /** So far. */
    BsonDocument now() {
        long collections = 0;
        long collectionsMs = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            collections += Math.max(0, collector.getCollectionCount());
            collectionsMs += Math.max(0, collector.getCollectionTime());
        }
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        BsonDocument used = new BsonDocument();
        put(used, "cpu_ns", system.getProcessCpuTime());
        put(used, "memory_peak_bytes", memoryPeakBytes());
        put(used, "collections", collections);
        put(used, "collections_ns", TimeUnit.MILLISECONDS.toNanos(collectionsMs));
        put(used, "connections_created", created.sum());
        put(used, "connections_closed", open == null ? closed.sum() : Math.max(0, created.sum() - open.getAsInt()));
        put(used, "pool_taken", taken.sum());
        put(used, "pool_refused", refused.sum());
        put(used, "pool_waited_ns", waitedNs.sum());
        put(used, "pool_waited_max_ns", waitedMaxNs.get());
        BsonArray counts = new BsonArray();
        for (int place = 0; place < waits.length(); place++) {
            counts.add(new BsonInt64(waits.get(place)));
        }
        used.put("pool_waits", counts);
        return used;
    }

    private static void put(BsonDocument used, String name, long value) {
        if (value >= 0) {
            used.put(name, new BsonInt64(value));
        }
    }

    private static long memoryPeakBytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmHWM:")) {
                    return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
                }
            }
        } catch (IOException | NumberFormatException unknown) {
            return -1;
        }
        return -1;
    }
}
