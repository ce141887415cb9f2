// The runner of the driver for Go: a goroutine for each worker, one client for all of them.
// docs/reference/runners.md describes the frames.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/version"
)

const protocolVersion = 1

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	frames := &frames{out: os.Stdout}
	kind, content, err := next(in)
	if err != nil || kind != kindOpen {
		return
	}
	var settings struct {
		URI        string `bson:"uri"`
		Workers    int    `bson:"workers"`
		PatienceMs int64  `bson:"operation_timeout_ms"`
	}
	if err := bson.Unmarshal(content, &settings); err != nil {
		frames.fail(err)
		return
	}
	pool := &pool{}
	// A sub-document of a reply stays the kind of document that it came as.
	given := options.Client().ApplyURI(settings.URI).SetPoolMonitor(pool.monitor()).
		SetBSONOptions(&options.BSONOptions{DefaultDocumentM: false})
	client, err := mongo.Connect(given)
	if err == nil {
		err = client.Ping(context.Background(), nil)
	}
	if err != nil {
		frames.fail(err)
		return
	}
	sessions := &sessions{}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	// A reply to an engine that is gone would end this process, before its transactions.
	signal.Ignore(syscall.SIGPIPE)
	go func() {
		<-terminated
		sessions.end(client)
		os.Exit(0)
	}()
	workers := make([]*worker, settings.Workers)
	for i := range workers {
		workers[i] = newWorker(client, frames, sessions, time.Duration(settings.PatienceMs)*time.Millisecond)
	}
	frames.send(kindReady, bson.D{
		{Key: "version", Value: int64(protocolVersion)},
		{Key: "client", Value: "go"},
		{Key: "driver", Value: "mongo-driver"},
		{Key: "driver_version", Value: version.Driver},
		{Key: "runtime", Value: "Go"},
		{Key: "runtime_version", Value: runtime.Version()},
		{Key: "ahead_ns", Value: int64(300_000)},
	})
	for {
		kind, content, err := next(in)
		if err != nil {
			sessions.end(client)
			return
		}
		switch kind {
		case kindCommand:
			command := readCommand(content)
			workers[int(command.place)%len(workers)].commands <- command
		case kindClock:
			frames.clock(binary.LittleEndian.Uint32(content))
		case kindUse:
			frames.send(kindUsed, pool.used())
		default:
			sessions.end(client)
			closing, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_ = client.Disconnect(closing)
			return
		}
	}
}

// next reads a frame: its kind and its content.
func next(in io.Reader) (byte, []byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length < 1 || length > frameBytesMax {
		return 0, nil, io.ErrUnexpectedEOF
	}
	content := make([]byte, length)
	if _, err := io.ReadFull(in, content); err != nil {
		return 0, nil, err
	}
	return content[0], content[1:], nil
}
