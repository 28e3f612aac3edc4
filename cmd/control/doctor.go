package control

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

// Trial is one thing that was tried on a device, or on the state that a team shares.
type Trial struct {
	Device string `json:"device"` // empty: the state
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Text   string `json:"text"` // what was seen, or what is wrong and what to do
}

// Examine tries, in the order in which they depend on each other, what weir needs of a device.
func (r *Repo) Examine(ctx context.Context, name string) []Trial {
	var looks []Trial
	try := func(what string, err error, text string) bool {
		l := Trial{Device: name, What: what, OK: err == nil, Text: text}
		if err != nil {
			l.Text = err.Error()
		}
		looks = append(looks, l)
		return err == nil
	}
	e, err := r.endpoint(ctx, name)
	if !try("inventory and secrets", err, "complete") {
		return looks
	}
	for _, t := range []struct {
		what, address string
		via           plan.Via
	}{{"gNMI", e.GNMI, plan.GNMI}, {"SSH", e.SSH, plan.SSH}} {
		if t.address == "" {
			continue
		}
		if !try(t.what+" port", r.reach(ctx, t.address), t.address+" answers") {
			continue
		}
		if t.via == plan.GNMI && !e.Insecure.Plaintext {
			try("gNMI speaks TLS", r.speaksTLS(ctx, t.address), "yes")
		}
		only := e
		if t.via == plan.GNMI {
			only.SSH = ""
		} else {
			only.GNMI = ""
		}
		try(t.what+" trust and login", r.login(ctx, only), "in as "+e.User)
	}
	o := r.observeOne(ctx, name, "")
	try("configuration", o.Err, fmt.Sprintf("%d settings of weir's kind, %d derived by the device, %d foreign", len(o.State.Owned), len(o.State.Derived), len(o.State.Foreign)))
	if trials := r.bound[name].Trials(); o.Err == nil && len(trials) > 0 {
		r.tryAll(ctx, e, trials, try)
	}
	return looks
}

// tryAll tries what the device's language has to try.
func (r *Repo) tryAll(ctx context.Context, e drivers.Endpoint, trials []plan.Trial, try func(what string, err error, text string) bool) {
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	target, err := r.dialer().Dial(ctx, e)
	if err != nil {
		try("a second login", err, "")
		return
	}
	for _, t := range trials {
		err := target.Set(ctx, plan.Chunk{Send: t.Send}, plan.Pending{Device: e.Device})
		if err != nil {
			err = fmt.Errorf("%w: %s", err, t.Advice)
		}
		try(t.What, err, "yes")
	}
	_ = target.Close() // everything was said
}

// trialTime is how long all trials on a device may take.
const trialTime = 2 * time.Minute

func (r *Repo) reach(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := r.effects.dial(ctx, address)
	if err != nil {
		return fmt.Errorf("%w: is the address right, the service on, the way open", err)
	}
	return conn.Close()
}

// speaksTLS says whether the server begins a TLS handshake at all; whether it is to be trusted is another question.
func (r *Repo) speaksTLS(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	conn, err := r.effects.dial(ctx, address)
	if err != nil {
		return err
	}
	defer conn.Close()
	host, _, _ := net.SplitHostPort(address)                                                      // it was dialled: it is one
	config := &tls.Config{ServerName: host, InsecureSkipVerify: true, NextProtos: []string{"h2"}} //nolint:gosec // only to see whether it is TLS; nothing is sent
	err = tls.Client(conn, config).HandshakeContext(ctx)
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return errors.New("it answers without TLS: give it a certificate, or, where the network is yours alone, set management.tls: plaintext")
	}
	return err
}

// dial opens a connection as those to devices are opened.
func (e Effects) dial(ctx context.Context, address string) (net.Conn, error) {
	if e.Dial == nil {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	return e.Dial(ctx, "tcp", address)
}

func (r *Repo) login(ctx context.Context, e drivers.Endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t, err := r.dialer().Dial(ctx, e)
	if err != nil {
		return err
	}
	return t.Close()
}
