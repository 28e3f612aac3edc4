package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"
)

// log is where it is written what goes wrong beside what is printed: each thing once in a while, in JSON beside JSON.
func (c *console) log() *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelWarn}
	if c.json {
		return slog.New(newSparse(slog.NewJSONHandler(c.err, options)))
	}
	return slog.New(newSparse(slog.NewTextHandler(c.err, options)))
}

const (
	sparseEvery = 10 * time.Minute // the same record is written once in it
	sparseMost  = 10_000           // records that are remembered; more are those of another ten minutes
)

// sparse is a slog.Handler that writes the same record once in ten minutes. Numbers do not make one another: a port that a connection
// came from, or a duration.
type sparse struct {
	slog.Handler
	with string // attributes that all records have

	*memory
}

// memory is when records were written last. Handlers that are made of one another share it.
type memory struct {
	mu      sync.Mutex
	written map[string]time.Time
}

func newSparse(h slog.Handler) sparse {
	return sparse{Handler: h, memory: &memory{written: map[string]time.Time{}}}
}

// Handle is of slog.Handler.
func (s sparse) Handle(ctx context.Context, r slog.Record) error {
	key := strings.Builder{}
	key.WriteString(r.Level.String() + " " + r.Message + s.with)
	r.Attrs(func(a slog.Attr) bool {
		key.WriteString(" " + keyed(a))
		return true
	})
	if !s.due(key.String(), r.Time) {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

// due says whether a record is to be written, and notes that it was.
func (m *memory) due(key string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.written[key]; ok && now.Sub(at) < sparseEvery {
		return false
	}
	if len(m.written) >= sparseMost {
		clear(m.written)
	}
	m.written[key] = now
	return true
}

// WithAttrs is of slog.Handler.
func (s sparse) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		s.with += " " + keyed(a)
	}
	s.Handler = s.Handler.WithAttrs(attrs)
	return s
}

// WithGroup is of slog.Handler.
func (s sparse) WithGroup(name string) slog.Handler {
	s.with += " " + name + "."
	s.Handler = s.Handler.WithGroup(name)
	return s
}

// keyed is an attribute as it tells records apart. The numbers of an error do not: those of a device's name do.
func keyed(a slog.Attr) string {
	if a.Key != "err" {
		return a.String()
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, a.String())
}
