package gnmi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/weirfabric/weir/drivers"
)

// login sends the user and the password with every call: metadata keys username and password.
type login struct {
	user     string
	password drivers.Secret
	secure   bool
}

func (l login) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"username": l.user, "password": string(l.password)}, nil
}

// RequireTransportSecurity keeps the password off a connection without TLS, unless the operator switched that on.
func (l login) RequireTransportSecurity() bool { return l.secure }

// transportCredentials are TLS with everything verified, less what the operator has switched off.
func transportCredentials(e drivers.Endpoint, w *watch) (credentials.TransportCredentials, error) {
	if e.Insecure.Plaintext {
		return watched{insecure.NewCredentials(), w, false}, nil
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         e.TLS.ServerName,
		InsecureSkipVerify: e.Insecure.SkipVerify,
	}
	if config.ServerName == "" {
		host, _, err := net.SplitHostPort(e.GNMI)
		if err != nil {
			return nil, fmt.Errorf("%s: gNMI address %q: %w", e.Device, e.GNMI, err)
		}
		config.ServerName = host
	}
	if e.TLS.CA != "" {
		pem, err := drivers.ReadFile(e.TLS.CA, drivers.MaxKeyFile)
		if err != nil {
			return nil, &drivers.AuthError{Device: e.Device, Err: fmt.Errorf("read the CA certificate: %w", err), Hint: "set ca to a PEM file with the certificate that signed the device's"}
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, &drivers.AuthError{Device: e.Device, Err: fmt.Errorf("%s holds no certificate", e.TLS.CA), Hint: "set ca to a PEM file with the certificate that signed the device's"}
		}
	}
	if e.TLS.Cert != "" {
		pair, err := keyPair(e.TLS)
		if err != nil {
			return nil, &drivers.AuthError{Device: e.Device, Err: fmt.Errorf("read the client certificate: %w", err), Hint: "set cert and certKey to PEM files that belong together"}
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return watched{credentials.NewTLS(config), w, true}, nil
}

// keyPair reads weir's own certificate and its key.
func keyPair(t drivers.TLS) (tls.Certificate, error) {
	cert, err := drivers.ReadFile(t.Cert, drivers.MaxKeyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := drivers.ReadFile(t.Key, drivers.MaxKeyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}

// watch keeps the cause of the last failure to connect as a typed error: gRPC hands on nothing but text.
type watch struct {
	open func(ctx context.Context, network, address string) (net.Conn, error)

	mu  sync.Mutex
	err error
}

var errNotPlain = errors.New("the far side ended the connection at the first unencrypted word")

func (w *watch) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = err
}

func (w *watch) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *watch) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := w.open(ctx, "tcp", address)
	w.note(err)
	return conn, err
}

// watched is TLS, or its absence, whose failures are noted.
type watched struct {
	credentials.TransportCredentials
	watch     *watch
	encrypted bool
}

func (c watched) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := c.TransportCredentials.ClientHandshake(ctx, authority, raw)
	c.watch.note(err)
	if err != nil {
		return nil, nil, err
	}
	return &firstRead{Conn: conn, watch: c.watch, encrypted: c.encrypted}, info, nil
}

func (c watched) Clone() credentials.TransportCredentials {
	return watched{c.TransportCredentials.Clone(), c.watch, c.encrypted}
}

// firstRead notes how the first read of a connection ended. With TLS 1.3 it is there that a server refuses a client's
// certificate, and without TLS that a server which wants it ends the connection, with an alert (record type 21) or without.
type firstRead struct {
	net.Conn
	watch     *watch
	encrypted bool
	done      atomic.Bool
}

func (c *firstRead) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if c.done.Swap(true) {
		return n, err
	}
	const alert = 21
	ended := err != nil && !errors.Is(err, net.ErrClosed)
	switch {
	case !c.encrypted && (ended || n > 0 && b[0] == alert):
		c.watch.note(errNotPlain)
	case ended:
		c.watch.note(err)
	}
	return n, err
}

// Write reads what the server said last when it has ended the connection: gRPC would close it without looking.
func (c *firstRead) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil && !c.done.Load() {
		_ = c.SetReadDeadline(time.Now().Add(time.Second)) // where this fails the read fails at once
		_, _ = c.Read(make([]byte, 1))
	}
	return n, err
}
