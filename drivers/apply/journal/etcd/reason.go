package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"os"
	"strings"
	"time"
)

// reason is why etcd does not answer. The client waits for a connection and tells of the waiting alone, so one is tried here.
func (b *Backend) reason(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), greeting)
	defer cancel()
	var failed []error
	for _, endpoint := range b.config.Endpoints {
		u, err := url.Parse(endpoint)
		if err == nil {
			err = b.greet(ctx, u)
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) == 0 {
		return errors.New("it does not answer in time")
	}
	return errors.New(strings.ReplaceAll(errors.Join(failed...).Error(), "\n", "; "))
}

// greet connects to a server, and reads what it says first: one that does not take the certificate of a client says so then.
func (b *Backend) greet(ctx context.Context, u *url.URL) error {
	if u.Scheme != "https" {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if b.config.TLS != nil {
		config = b.config.TLS.Clone()
	}
	config.NextProtos = []string{"h2"}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(greeting))
	if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}
