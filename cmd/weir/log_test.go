package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheLogSaysTheSameOnceInAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written bytes.Buffer
		log := (&console{err: &written}).log()
		lines := func() int { return strings.Count(written.String(), "\n") }
		leaf1, leaf2 := log.With("device", "leaf1"), log.With("device", "leaf2")
		for _, c := range []struct {
			name string
			log  func()
			want int
		}{
			{"the first time", func() { leaf1.Warn("refused", "err", errors.New("port 4711: denied")) }, 1},
			{"again, from another port", func() { leaf1.Warn("refused", "err", errors.New("port 815: denied")) }, 1},
			{"of another device", func() { leaf2.Warn("refused", "err", errors.New("port 4711: denied")) }, 2},
			{"for another reason", func() { leaf1.Warn("refused", "err", errors.New("port 815: expired")) }, 3},
			{"what is not worth a line", func() { leaf1.Info("fine") }, 3},
			{"ten minutes later", func() { time.Sleep(sparseEvery); leaf1.Warn("refused", "err", errors.New("port 5: denied")) }, 4},
		} {
			if c.log(); lines() != c.want {
				t.Errorf("%s: got %d lines, want %d\n%s", c.name, lines(), c.want, written.String())
			}
		}
	})
}
