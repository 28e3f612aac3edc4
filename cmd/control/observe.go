package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"sync"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
	"golang.org/x/sync/errgroup"
)

// sideBySide is how many devices are read at once.
const sideBySide = 16

// Observation is what was read from one device, or why it could not be.
type Observation struct {
	Answers []plan.Answer
	State   plan.State
	Err     error
}

// Observe reads devices side by side: from the devices, or from the files that `weir observe` wrote, where dir is not empty.
func (r *Repo) Observe(ctx context.Context, names []string, dir string, done func(name string, err error)) map[string]Observation {
	out := make(map[string]Observation, len(names))
	var mu sync.Mutex
	var all errgroup.Group
	all.SetLimit(sideBySide)
	for _, name := range names {
		all.Go(func() error {
			o := r.observeOne(ctx, name, dir)
			mu.Lock()
			defer mu.Unlock()
			out[name] = o
			if done != nil {
				done(name, o.Err)
			}
			return nil
		})
	}
	_ = all.Wait() // what failed stands in each observation
	return out
}

func (r *Repo) observeOne(ctx context.Context, name, dir string) Observation {
	if r.unowned != nil {
		return Observation{Err: fmt.Errorf("%s: not read: %w", name, r.unowned)}
	}
	ask := r.ask
	if dir != "" {
		ask = func(_ context.Context, name string, qs []plan.Query) ([]plan.Answer, error) {
			return readAnswers(dir, name, qs)
		}
	}
	b := r.bound[name]
	answers, err := ask(ctx, name, b.Queries())
	if err != nil {
		return Observation{Err: err}
	}
	state, err := b.Read(answers)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return Observation{Answers: answers, State: state, Err: err}
}

// ask puts queries to a device.
func (r *Repo) ask(ctx context.Context, name string, qs []plan.Query) ([]plan.Answer, error) {
	t, err := r.Dial(ctx, name)
	if err != nil {
		return nil, err
	}
	answers, err := t.Get(ctx, qs)
	if closed := t.Close(); err == nil && closed != nil && !errors.Is(closed, net.ErrClosed) {
		return answers, fmt.Errorf("%s: end the connection: %w", name, closed)
	}
	return answers, err
}

// readAnswers takes answers from DIR/<device>/<query>, as `weir observe -o DIR` writes them. A file that is not there is an
// answer that the device does not have; a device without any file is an error.
func readAnswers(dir, device string, qs []plan.Query) ([]plan.Answer, error) {
	var answers []plan.Answer
	found := false
	for _, q := range qs {
		body, err := readObserved(filepath.Join(dir, device, filepath.FromSlash(q.Name)))
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return nil, fmt.Errorf("%s: read what was observed: %w", device, err)
		}
		found = found || !missing
		answers = append(answers, plan.Answer{Name: q.Name, Body: body, Missing: missing})
	}
	if !found {
		return nil, fmt.Errorf("%s: %w: %s holds no answer of it", device, errNotObserved, filepath.Join(dir, device))
	}
	return answers, nil
}

// readObserved reads an answer as it would be taken from the device.
func readObserved(file string) ([]byte, error) {
	body, err := drivers.ReadFile(file, drivers.MaxAnswer)
	if err == nil {
		err = drivers.Bounded(body)
	}
	return body, err
}

// SaveAnswers writes answers to DIR/<query>, from where Observe reads them again.
func SaveAnswers(dir string, answers []plan.Answer) error {
	for _, a := range answers {
		if a.Missing {
			continue
		}
		if err := Write(dir, a.Name, a.Body, 0o600); err != nil {
			return fmt.Errorf("write what was observed: %w", err)
		}
	}
	return nil
}
