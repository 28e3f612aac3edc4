package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/templates"
)

// sideBySide is how many devices are read at once.
const sideBySide = 16

// transports are the ways to devices.
func transports() drivers.Dialer {
	return drivers.Routed{
		GNMI: drivers.Retry{Dialer: gnmi.Dialer{Packs: templates.FS}},
		SSH:  drivers.Retry{Dialer: ssh.Dialer{Packs: templates.FS}},
	}
}

// dialer connects to the devices of a repo.
func (r *repo) dialer() drivers.Dialer {
	if r.recorder != nil {
		return r.recorder
	}
	return transports()
}

// endpoint is how a device is reached. Secrets are resolved here and nowhere else.
func (r *repo) endpoint(ctx context.Context, name string) (drivers.Endpoint, error) {
	d := r.device(name)
	if d == nil {
		return drivers.Endpoint{}, fmt.Errorf("%s is not in the inventory", name)
	}
	if r.lab != nil {
		return r.labEndpoint(ctx, d)
	}
	pack, err := drivers.ReadPack(templates.FS, d.Platform.V)
	if err != nil {
		return drivers.Endpoint{}, err
	}
	m := d.Management
	if m.Address.V == "" {
		return drivers.Endpoint{}, fmt.Errorf("%s has no management address in the inventory", name)
	}
	e := drivers.Endpoint{
		Device: name, Platform: d.Platform.V, User: m.User.V, HostKeys: r.path(m.HostKeys.V),
		SSH:      net.JoinHostPort(m.Address.V, strconv.Itoa(cmp.Or(m.SSH.V, pack.SSH.Port))),
		TLS:      drivers.TLS{CA: r.path(m.CA.V), Cert: r.path(m.Cert.V), Key: r.path(m.CertKey.V), ServerName: m.ServerName.V},
		Insecure: drivers.Insecure{Plaintext: m.TLS.V == "plaintext", SkipVerify: m.TLS.V == "skip-verify", AnyHostKey: m.HostKey.V == "any"},
	}
	if port := cmp.Or(m.GNMI.V, pack.GNMI.Port); port != 0 {
		e.GNMI = net.JoinHostPort(m.Address.V, strconv.Itoa(port))
	}
	if e.Password, err = secret(ctx, r.reference(m.Password.V)); err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	if e.Key, err = secret(ctx, r.reference(m.Key.V)); err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

// labEndpoint is how a simulated device is reached.
func (r *repo) labEndpoint(ctx context.Context, d *inventory.Device) (drivers.Endpoint, error) {
	at, simulated := r.lab.Devices[d.Name.V]
	if !simulated {
		return drivers.Endpoint{}, fmt.Errorf("%s is not in the running lab: start it again", d.Name.V)
	}
	password, err := secret(ctx, r.lab.Password)
	return drivers.Endpoint{Device: d.Name.V, Platform: d.Platform.V, GNMI: at.GNMI, SSH: at.SSH, User: r.lab.User, Password: password,
		TLS: drivers.TLS{CA: r.lab.CA}, HostKeys: r.lab.KnownHosts}, err
}

// path takes a file name of the inventory as relative to the repo.
func (r *repo) path(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.dir, name)
}

// reference takes the file of a secret as relative to the repo.
func (r *repo) reference(secret string) string {
	const file = "file:"
	if len(secret) > len(file) && secret[:len(file)] == file {
		return file + r.path(secret[len(file):])
	}
	return secret
}

// dial connects to a device of the repo.
func (r *repo) dial(ctx context.Context, name string) (drivers.Target, error) {
	e, err := r.endpoint(ctx, name)
	if err != nil {
		return nil, err
	}
	return r.dialer().Dial(ctx, e)
}

// warnInsecure says loudly which devices are not verified.
func (c *console) warnInsecure(r *repo, names []string) {
	if r.lab != nil {
		return
	}
	for _, name := range names {
		m := r.device(name).Management
		for _, w := range []struct{ is, text string }{
			{m.TLS.V, map[string]string{"plaintext": "gNMI runs without TLS: anyone on the path reads and changes it", "skip-verify": "the certificate of its gNMI server is not verified"}[m.TLS.V]},
			{m.HostKey.V, map[string]string{"any": "any SSH host key is accepted"}[m.HostKey.V]},
		} {
			if w.text != "" {
				c.say().Printf("%s: %s: %s (%s in the inventory)\n", c.say().Bad("INSECURE"), name, w.text, w.is)
			}
		}
	}
}

// observation is what was read from one device, or why it could not be.
type observation struct {
	answers []plan.Answer
	state   plan.State
	err     error
}

// observe reads devices side by side: from the devices, or from the files that `weir observe` wrote, where dir is not empty.
func (r *repo) observe(ctx context.Context, names []string, dir string, done func(name string, err error)) map[string]observation {
	out := make(map[string]observation, len(names))
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, sideBySide)
	for _, name := range names {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			o := r.observeOne(ctx, name, dir)
			mu.Lock()
			defer mu.Unlock()
			out[name] = o
			if done != nil {
				done(name, o.err)
			}
		})
	}
	all.Wait()
	return out
}

func (r *repo) observeOne(ctx context.Context, name, dir string) observation {
	ask := r.ask
	if dir != "" {
		ask = func(_ context.Context, name string, qs []plan.Query) ([]plan.Answer, error) {
			return readAnswers(dir, name, qs)
		}
	}
	b := r.bound[name]
	answers, err := ask(ctx, name, b.Queries())
	if err != nil {
		return observation{err: err}
	}
	state, err := b.Read(answers)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return observation{answers: answers, state: state, err: err}
}

// ask puts queries to a device.
func (r *repo) ask(ctx context.Context, name string, qs []plan.Query) ([]plan.Answer, error) {
	t, err := r.dial(ctx, name)
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
		body, err := os.ReadFile(filepath.Join(dir, device, filepath.FromSlash(q.Name)))
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && !missing {
			return nil, fmt.Errorf("%s: read what was observed: %w", device, err)
		}
		found = found || !missing
		answers = append(answers, plan.Answer{Name: q.Name, Body: body, Missing: missing})
	}
	if !found {
		return nil, fmt.Errorf("%s: %s holds nothing that was observed of it", device, filepath.Join(dir, device))
	}
	return answers, nil
}
