package main

import (
	"math/bits"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"golang.org/x/sys/unix"
)

// pool is what the driver's pool tells of its connections and of waiting for one.
type pool struct {
	created, closed, taken, refused, waitedNs, waitedMaxNs atomic.Int64
	// How often it took so long: the bits of the time in µs.
	waits [32]atomic.Int64
}

func (pool *pool) monitor() *event.PoolMonitor {
	return &event.PoolMonitor{Event: func(told *event.PoolEvent) {
		switch told.Type {
		case event.ConnectionCreated:
			pool.created.Add(1)
		case event.ConnectionClosed:
			pool.closed.Add(1)
		case event.ConnectionCheckedOut:
			pool.taken.Add(1)
			pool.waited(told.Duration.Nanoseconds())
		case event.ConnectionCheckOutFailed:
			pool.refused.Add(1)
			pool.waited(told.Duration.Nanoseconds())
		}
	}}
}

func (pool *pool) waited(elapsedNs int64) {
	pool.waitedNs.Add(elapsedNs)
	pool.waits[min(bits.Len64(uint64(max(elapsedNs, 0)/1000)), len(pool.waits)-1)].Add(1)
	for {
		longest := pool.waitedMaxNs.Load()
		if elapsedNs <= longest || pool.waitedMaxNs.CompareAndSwap(longest, elapsedNs) {
			return
		}
	}
}

// used is what this process has used so far.
func (pool *pool) used() bson.D {
	var usage unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &usage)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	waits := make(bson.A, len(pool.waits))
	for place := range pool.waits {
		waits[place] = pool.waits[place].Load()
	}
	used := bson.D{
		{Key: "cpu_ns", Value: usage.Utime.Nano() + usage.Stime.Nano()},
		{Key: "collections", Value: int64(memory.NumGC)},
		{Key: "collections_ns", Value: int64(memory.PauseTotalNs)},
		{Key: "connections_created", Value: pool.created.Load()},
		{Key: "connections_closed", Value: pool.closed.Load()},
		{Key: "pool_taken", Value: pool.taken.Load()},
		{Key: "pool_refused", Value: pool.refused.Load()},
		{Key: "pool_waited_ns", Value: pool.waitedNs.Load()},
		{Key: "pool_waited_max_ns", Value: pool.waitedMaxNs.Load()},
		{Key: "pool_waits", Value: waits},
	}
	if peak, is := memoryPeakBytes(); is {
		used = append(used, bson.E{Key: "memory_peak_bytes", Value: peak})
	}
	return used
}

// memoryPeakBytes is the most memory of this program; that of getrusage begins with that of the process that started it.
func memoryPeakBytes() (int64, bool) {
	status, _ := os.ReadFile("/proc/self/status")
	_, told, is := strings.Cut(string(status), "VmHWM:")
	told, _, _ = strings.Cut(told, " kB")
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(told), 10, 64)
	return kilobytes * 1024, is && err == nil
}
