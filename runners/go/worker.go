package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
)

// worker is what one user of an application does: a command after the other.
type worker struct {
	client   *mongo.Client
	frames   *frames
	sessions *sessions
	// How long an application waits for an answer: the driver has no such bound.
	patience time.Duration
	commands chan *command
	session  *mongo.Session
}

func newWorker(client *mongo.Client, frames *frames, sessions *sessions, patience time.Duration) *worker {
	made := &worker{
		client: client, frames: frames, sessions: sessions, patience: patience, commands: make(chan *command, 4),
	}
	go func() {
		for command := range made.commands {
			if !sessions.enters() {
				return
			}
			made.perform(command)
			sessions.leave()
		}
	}()
	return made
}

func (worker *worker) perform(command *command) {
	call, err := worker.prepare(command)
	if err != nil {
		now := nowNs()
		worker.frames.reply(command, doneOf(err), now, now)
		return
	}
	if command.dueNs > 0 {
		if now := nowNs(); now < command.dueNs {
			time.Sleep(time.Duration(command.dueNs - now))
		}
	}
	ctx, end := within(worker.patience)
	defer end()
	if command.isInside {
		ctx = mongo.NewSessionContext(ctx, worker.session)
	}
	sentNs := nowNs()
	done, err := call(ctx)
	if err != nil {
		done = doneOf(err)
	}
	worker.frames.reply(command, done, sentNs, nowNs())
}

// within is a context that is cancelled after `patience`. A deadline would have the driver send maxTimeMS, which no step says.
func within(patience time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	timer := time.AfterFunc(patience, cancel)
	return ctx, func() {
		timer.Stop()
		cancel()
	}
}

// prepare makes the call of the driver's, in a transaction that has begun.
func (worker *worker) prepare(command *command) (call, error) {
	if command.problem != nil {
		return nil, command.problem
	}
	if command.isInside {
		if worker.session == nil {
			session, err := worker.client.StartSession()
			if err != nil {
				return nil, err
			}
			worker.session = session
			worker.sessions.add(session)
		}
	}
	if command.begins {
		if worker.session.TransactionRunning() {
			ctx, end := within(worker.patience)
			_ = worker.session.AbortTransaction(mongo.NewSessionContext(ctx, worker.session))
			end()
		}
		given := options.Transaction()
		for _, each := range command.readConcern {
			if level, is := each.Value.(string); is && each.Key == "level" {
				given.SetReadConcern(&readconcern.ReadConcern{Level: level})
			}
		}
		if err := worker.session.StartTransaction(given); err != nil {
			return nil, err
		}
	}
	switch command.name {
	case "commitTransaction":
		return func(ctx context.Context) (done, error) { return ok(), worker.session.CommitTransaction(ctx) }, nil
	case "abortTransaction":
		// The driver keeps to itself that nobody answered.
		return func(ctx context.Context) (done, error) {
			return ok(), errors.Join(worker.session.AbortTransaction(ctx), ctx.Err())
		}, nil
	}
	return callOf(worker.client, command)
}

// doneOf is what an error of the driver's amounts to: what the server said, in its own form, or that it said nothing.
func doneOf(err error) done {
	var bulk mongo.BulkWriteException
	if errors.As(err, &bulk) {
		writes := make(mongo.WriteErrors, 0, len(bulk.WriteErrors))
		for _, each := range bulk.WriteErrors {
			writes = append(writes, each.WriteError)
		}
		return writeFailed(0, writes, bulk.WriteConcernError)
	}
	var write mongo.WriteException
	if errors.As(err, &write) {
		return writeFailed(0, write.WriteErrors, write.WriteConcernError)
	}
	var command mongo.CommandError
	if errors.As(err, &command) && command.Raw != nil {
		labels := bson.A{}
		for _, label := range command.Labels {
			labels = append(labels, label)
		}
		return done{body: bson.D{
			{Key: "ok", Value: int32(0)},
			{Key: "code", Value: command.Code},
			{Key: "codeName", Value: command.Name},
			{Key: "errmsg", Value: command.Message},
			{Key: "errorLabels", Value: labels},
		}}
	}
	body := bson.D{{Key: "message", Value: err.Error()}, {Key: "label", Value: "error"}}
	switch {
	case strings.Contains(err.Error(), "checking out a connection"):
		return done{outcome: noConnection, body: body}
	// Of a server that isn't there the driver says that time is up: this comes before what times out.
	case strings.Contains(err.Error(), "server selection error") || strings.Contains(err.Error(), "was cleared because"):
		return done{outcome: lost, body: body}
	case mongo.IsTimeout(err) || errors.Is(err, context.Canceled):
		return done{outcome: timedOut, body: body}
	case mongo.IsNetworkError(err):
		return done{outcome: lost, body: body}
	}
	return done{outcome: refused, body: body}
}

func writeFailed(n int, failed mongo.WriteErrors, concern *mongo.WriteConcernError) done {
	body := bson.D{{Key: "ok", Value: int32(1)}, {Key: "n", Value: int32(n)}}
	if len(failed) > 0 {
		all := bson.A{}
		for _, each := range failed {
			all = append(all, bson.D{
				{Key: "index", Value: int32(each.Index)},
				{Key: "code", Value: int32(each.Code)},
				{Key: "errmsg", Value: each.Message},
			})
		}
		body = append(body, bson.E{Key: "writeErrors", Value: all})
	}
	if concern != nil {
		body = append(body, bson.E{Key: "writeConcernError", Value: bson.D{
			{Key: "code", Value: int32(concern.Code)},
			{Key: "codeName", Value: concern.Name},
			{Key: "errmsg", Value: concern.Message},
		}})
	}
	return done{body: body}
}
