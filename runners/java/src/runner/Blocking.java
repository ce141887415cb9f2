package runner;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;

/** A blocking driver: a thread for each worker, which performs its commands one after the other. */
abstract class Blocking implements Client {
    private final Frames frames;
    final Sessions sessions = new Sessions();
    private final List<LinkedBlockingQueue<Command>> queues = new ArrayList<>();

    Blocking(Frames frames) {
        this.frames = frames;
    }

    /** What a thread does with its commands, and keeps from one to the next. */
    interface Worker {
        /** What is prepared, and done once it is due. */
        Call prepare(Command command);
    }

    /** A call of the driver's methods, up to their result. */
    interface Call {
        Done run() throws Exception;
    }

    abstract Worker worker();

    /** What an error of the driver's amounts to. */
    abstract Done failed(Exception error);

    final void start(int workers) {
        for (int number = 0; number < workers; number++) {
            LinkedBlockingQueue<Command> queue = new LinkedBlockingQueue<>();
            queues.add(queue);
            Thread thread = new Thread(() -> work(queue), "worker-" + number);
            thread.setDaemon(true);
            thread.start();
        }
    }

    @Override
    public final void take(Command command) {
        queues.get(Integer.remainderUnsigned(command.place, queues.size())).add(command);
    }

    private void work(LinkedBlockingQueue<Command> queue) {
        Worker worker = worker();
        try {
            while (true) {
                perform(queue.take(), worker);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private void perform(Command command, Worker worker) {
        if (!sessions.enters()) {
            return;
        }
        try {
            performNow(command, worker);
        } finally {
            sessions.leave();
        }
    }

    private void performNow(Command command, Worker worker) {
        Call call;
        try {
            call = worker.prepare(command);
            command.awaitDue();
        } catch (RuntimeException error) {
            long now = System.nanoTime();
            frames.reply(command, failed(error), now, now);
            return;
        }
        long sentNs = System.nanoTime();
        Done done;
        try {
            done = call.run();
        } catch (Exception error) {
            done = failed(error);
        }
        frames.reply(command, done, sentNs, System.nanoTime());
    }
}
