package control

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"

	"github.com/weirfabric/weir/drivers"
)

// Exporter says how /metrics is served. The zero value serves plain HTTP to whoever asks.
type Exporter struct {
	Config string       // a web configuration of the Prometheus exporter-toolkit: TLS, basic authentication, client certificates; empty: none
	Log    *slog.Logger // nil: silent
}

// Time limits of the server. A request for /metrics is a few hundred bytes, and a connection that is not used is opened again.
const (
	readTimeout  = 10 * time.Second
	writeTimeout = time.Minute
	idleTimeout  = 2 * time.Minute
	maxHeader    = 64 << 10 // bytes
)

// Serve serves /metrics at the listener, which it closes, for as long as the watch goes on. The web configuration is read again at each
// connection. An error means that it cannot be used, and that nothing is served.
func (w *Watching) Serve(l net.Listener, e Exporter) error {
	if err := web.Validate(e.Config); err != nil {
		return fmt.Errorf("read %s: %w", e.Config, err)
	}
	if e.Log == nil {
		e.Log = slog.New(slog.DiscardHandler)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", w.store.Handler())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "weir: see /metrics\n")
	})
	server := &http.Server{Handler: mux, ReadTimeout: readTimeout, ReadHeaderTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(e.Log.Handler(), slog.LevelDebug)}
	w.all.Go(func() {
		if err := web.Serve(l, server, &web.FlagConfig{WebConfigFile: &e.Config}, e.Log); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			e.Log.Error("metrics are not served any more", "err", err)
		}
	})
	stop := w.stop
	w.stop = func() {
		stop()
		_ = server.Close()
		_ = l.Close() // of a server that had not begun
	}
	return nil
}

// Exposed says what is open to whoever reaches the address, as a person should know it; empty where nothing is: it is loopback, or what
// is served is encrypted and asks who is there.
func (e Exporter) Exposed(a net.Addr) (string, error) {
	if host, ok := a.(*net.TCPAddr); ok && host.IP.IsLoopback() {
		return "", nil
	}
	encrypted, asks, err := e.protects()
	if err != nil {
		return "", err
	}
	switch {
	case !encrypted && !asks:
		return "without TLS and without authentication: whoever reaches it reads the names, the ports and the load of the fabric", nil
	case !encrypted:
		return "without TLS: the password and the metrics can be read on the way", nil
	case !asks:
		return "without authentication: whoever reaches it reads the names, the ports and the load of the fabric", nil
	}
	return "", nil
}

// Encrypts says whether the web configuration has TLS.
func (e Exporter) Encrypts() bool {
	encrypted, _, err := e.protects()
	return err == nil && encrypted
}

// protects says whether the web configuration has TLS, and whether it asks clients who they are.
func (e Exporter) protects() (encrypted, asks bool, err error) {
	if e.Config == "" {
		return false, false, nil
	}
	body, err := drivers.ReadFile(e.Config, maxConfig)
	if err != nil {
		return false, false, err
	}
	var config struct {
		TLS *struct {
			ClientAuth string `yaml:"client_auth_type"`
		} `yaml:"tls_server_config"`
		Users map[string]string `yaml:"basic_auth_users"`
	}
	if err := yaml.Unmarshal(body, &config); err != nil {
		return false, false, fmt.Errorf("read %s: %w", e.Config, err)
	}
	encrypted = config.TLS != nil
	return encrypted, len(config.Users) > 0 || encrypted && config.TLS.ClientAuth == "RequireAndVerifyClientCert", nil
}

// ListenAddress is where an exporter listens that is told an address: on this machine alone, but where the address names another host.
// All interfaces are 0.0.0.0 or [::].
func ListenAddress(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}
