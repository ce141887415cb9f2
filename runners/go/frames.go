package main

import (
	"encoding/binary"
	"os"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/sys/unix"
)

// Kinds of frames that come, and of those that go.
const (
	kindOpen    = 1
	kindCommand = 2
	kindClock   = 3
	kindUse     = 4

	kindReady   = 1
	kindReply   = 2
	kindClockIs = 3
	kindUsed    = 4
	kindFailed  = 5
)

// What became of a command.
const (
	answered     = 0
	lost         = 1
	timedOut     = 2
	noConnection = 3
	refused      = 4
)

const (
	frameBytesMax  = 64 << 20
	wantsDocuments = 1
)

// frames are those to the engine, each whole, whichever goroutine it comes from.
type frames struct {
	mutex sync.Mutex
	out   *os.File
}

// done is what became of a command: the server's reply or what stands for it, and how many documents came.
type done struct {
	outcome   byte
	body      bson.D
	documents int
}

// nowNs is what the system's monotonic clock says, which is one for all processes; Go's own counts from the start of this one.
func nowNs() uint64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
	return uint64(now.Nano())
}

func begin(kind byte, contentBytes int) []byte {
	frame := make([]byte, 0, 5+contentBytes)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(1+contentBytes))
	return append(frame, kind)
}

func (frames *frames) write(frame []byte) {
	frames.mutex.Lock()
	defer frames.mutex.Unlock()
	// An engine that is gone shows by the end of its frames.
	_, _ = frames.out.Write(frame)
}

func (frames *frames) send(kind byte, document bson.D) {
	body, err := bson.Marshal(document)
	if err != nil {
		body, _ = bson.Marshal(bson.D{{Key: "message", Value: err.Error()}})
	}
	frames.write(append(begin(kind, len(body)), body...))
}

func (frames *frames) fail(err error) {
	frames.send(kindFailed, bson.D{{Key: "message", Value: err.Error()}})
}

func (frames *frames) clock(number uint32) {
	frame := binary.LittleEndian.AppendUint32(begin(kindClockIs, 12), number)
	frames.write(binary.LittleEndian.AppendUint64(frame, nowNs()))
}

func (frames *frames) reply(command *command, done done, sentNs, doneNs uint64) {
	body, err := bson.Marshal(done.body)
	if err != nil {
		done.outcome = refused
		body, _ = bson.Marshal(bson.D{{Key: "message", Value: err.Error()}})
	}
	frame := begin(kindReply, 37+len(body))
	frame = binary.LittleEndian.AppendUint32(frame, command.place)
	frame = binary.LittleEndian.AppendUint32(frame, command.number)
	frame = append(frame, done.outcome)
	frame = binary.LittleEndian.AppendUint64(frame, sentNs)
	frame = binary.LittleEndian.AppendUint64(frame, doneNs)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(done.documents))
	frame = binary.LittleEndian.AppendUint64(frame, 0)
	frames.write(append(frame, body...))
}

// command is one as it came, and what it says of its transaction.
type command struct {
	place, number uint32
	dueNs         uint64
	wants         bool
	body          *fields
	name          string
	begins        bool
	isInside      bool
	readConcern   bson.D
	writeConcern  bson.D
	problem       error
}

func readCommand(content []byte) *command {
	found := &command{
		place:  binary.LittleEndian.Uint32(content),
		number: binary.LittleEndian.Uint32(content[4:]),
		dueNs:  binary.LittleEndian.Uint64(content[8:]),
		wants:  content[16]&wantsDocuments != 0,
	}
	var body bson.D
	found.problem = bson.Unmarshal(content[17:], &body)
	found.body = &fields{left: body}
	if len(body) == 0 {
		return found
	}
	found.name = body[0].Key
	found.begins = found.body.flag("startTransaction", false)
	_, found.isInside = found.body.take("autocommit")
	found.body.take("lsid")
	found.body.take("txnNumber")
	found.readConcern = found.body.document("readConcern")
	found.writeConcern = found.body.document("writeConcern")
	return found
}
