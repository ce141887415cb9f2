package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

const (
	// How long what is under way is waited for: a transaction that begins after the end would stay.
	underWayWithin = 500 * time.Millisecond
	underWayEvery  = 5 * time.Millisecond
	// How long the server may take to end sessions.
	endWithin = time.Second
)

// sessions are those that had transactions. They end with the runner: one that stays open would keep its locks for a minute.
type sessions struct {
	lock     sync.Mutex
	ids      bson.A
	isOver   atomic.Bool
	underWay atomic.Int64
}

func (sessions *sessions) add(session *mongo.Session) {
	sessions.lock.Lock()
	defer sessions.lock.Unlock()
	sessions.ids = append(sessions.ids, session.ID())
}

// enters is whether a command may begin; if so, leave follows it.
func (sessions *sessions) enters() bool {
	sessions.underWay.Add(1)
	if sessions.isOver.Load() {
		sessions.leave()
		return false
	}
	return true
}

func (sessions *sessions) leave() {
	sessions.underWay.Add(-1)
}

func (sessions *sessions) end(client *mongo.Client) {
	sessions.isOver.Store(true)
	sessions.lock.Lock()
	ids := sessions.ids
	sessions.lock.Unlock()
	if len(ids) == 0 {
		return
	}
	for until := time.Now().Add(underWayWithin); sessions.underWay.Load() > 0 && time.Now().Before(until); {
		time.Sleep(underWayEvery)
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWithin)
	defer cancel()
	_ = client.Database("admin").RunCommand(ctx, bson.D{{Key: "killSessions", Value: ids}}).Err()
}
