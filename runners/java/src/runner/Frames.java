package runner;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.bson.BsonBinaryReader;
import org.bson.BsonBinaryWriter;
import org.bson.BsonDocument;
import org.bson.ByteBufNIO;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.DecoderContext;
import org.bson.codecs.DocumentCodec;
import org.bson.codecs.EncoderContext;
import org.bson.io.BasicOutputBuffer;
import org.bson.io.ByteBufferBsonInput;

/** Frames to and from the engine, which docs/reference/runners.md describes. */
final class Frames {
    static final int OPEN = 1;
    static final int COMMAND = 2;
    static final int CLOCK = 3;
    static final int USE = 4;
    static final int READY = 1;
    static final int REPLY = 2;
    static final int CLOCK_IS = 3;
    static final int USED = 4;
    static final int FAILED = 5;

    private static final int FRAME_BYTES_MAX = 64 << 20;
    private static final DocumentCodec DOCUMENTS = new DocumentCodec();
    private static final BsonDocumentCodec BSON = new BsonDocumentCodec();

    private final DataInputStream in =
            new DataInputStream(new java.io.BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16));
    private final FileOutputStream out = new FileOutputStream(FileDescriptor.out);

    /** The next frame, its kind first; null once the engine is gone. */
    ByteBuffer next() throws IOException {
        try {
            int length = Integer.reverseBytes(in.readInt());
            if (length < 1 || length > FRAME_BYTES_MAX) {
                return null;
            }
            byte[] content = new byte[length];
            in.readFully(content);
            return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        } catch (EOFException gone) {
            return null;
        }
    }

    /** Sends a frame whose content is one document. */
    void send(int kind, BsonDocument document) {
        BasicOutputBuffer body = new BasicOutputBuffer(256);
        encode(document, body);
        ByteBuffer frame = begin(kind, body.size());
        write(frame, body);
    }

    /** Says what the clock said when question `number` came. */
    void sendClock(int number, long nowNs) {
        ByteBuffer frame = begin(CLOCK_IS, 12);
        frame.putInt(number).putLong(nowNs);
        write(frame, null);
    }

    /** Says what became of a command. */
    void reply(Command command, Done done, long sentNs, long doneNs) {
        BasicOutputBuffer body = new BasicOutputBuffer(256);
        encode(done.body(), body);
        ByteBuffer frame = begin(REPLY, 37 + body.size());
        frame.putInt(command.place).putInt(command.number).put((byte) done.outcome());
        frame.putLong(sentNs).putLong(doneNs).putInt(done.documents()).putLong(0);
        write(frame, body);
    }

    private static ByteBuffer begin(int kind, int contentBytes) {
        ByteBuffer frame = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        return frame.putInt(contentBytes + 1).put((byte) kind);
    }

    private static void encode(BsonDocument document, BasicOutputBuffer body) {
        try (BsonBinaryWriter writer = new BsonBinaryWriter(body)) {
            BSON.encode(writer, document, EncoderContext.builder().build());
        }
    }

    private synchronized void write(ByteBuffer head, BasicOutputBuffer body) {
        try {
            int bodyBytes = body == null ? 0 : body.size();
            byte[] whole = new byte[head.position() + bodyBytes];
            System.arraycopy(head.array(), 0, whole, 0, head.position());
            if (body != null) {
                System.arraycopy(body.getInternalBuffer(), 0, whole, head.position(), bodyBytes);
            }
            out.write(whole);
        } catch (IOException gone) {
            // The end of the engine's frames tells.
        }
    }

    /** What is left of a frame, as a document of the kind that applications use. */
    static Document document(ByteBuffer content) {
        ByteBuffer rest = content.slice().order(ByteOrder.LITTLE_ENDIAN);
        try (BsonBinaryReader reader = new BsonBinaryReader(new ByteBufferBsonInput(new ByteBufNIO(rest)))) {
            return DOCUMENTS.decode(reader, DecoderContext.builder().build());
        }
    }

    /** A document as bytes that are written as they are. */
    static RawBsonDocument raw(Document document) {
        return new RawBsonDocument(document, DOCUMENTS);
    }
}
