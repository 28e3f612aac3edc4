package control

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/telemetry"
	"github.com/weirfabric/weir/telemetry/collect"
)

// exporting serves many series on a network in memory.
func exporting(t *testing.T, e Exporter) (network *sim.Network, end func()) {
	t.Helper()
	store := collect.New(collect.Options{})
	for port := range 20_000 {
		store.Put([]telemetry.Sample{{Metric: telemetry.PortUp, Addr: addr.Port("leaf1", fmt.Sprint("Ethernet", port)), Value: 1, At: time.Now()}})
	}
	network = sim.NewNetwork()
	l, err := network.Listen("127.0.0.1:9469")
	if err != nil {
		t.Fatal(err)
	}
	w := &Watching{gathering: &gathering{store: store, stop: func() {}}}
	if err := w.Serve(l, e); err != nil {
		t.Fatal(err)
	}
	return network, w.End
}

// scrape asks for /metrics and reads what comes.
func scrape(t *testing.T, network *sim.Network, user, password string) (status int, body string) {
	t.Helper()
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DialContext: network.DialContext, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:9469/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		request.SetBasicAuth(user, password)
	}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(read)
}

func TestClientsThatNeverReadHoldUpNobodyAndAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, end := exporting(t, Exporter{})
		defer end()
		var stuck []net.Conn
		for range 40 {
			conn, err := network.DialContext(t.Context(), "tcp", "127.0.0.1:9469")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: weir\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			stuck = append(stuck, conn)
		}
		synctest.Wait()
		began := time.Now()
		if status, body := scrape(t, network, "", ""); status != http.StatusOK || strings.Count(body, "\nweir_port_up{") != 20_000 {
			t.Errorf("beside clients that do not read: got %d and %d bytes, want all series", status, len(body))
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("the scrape took %v", waited)
		}
		time.Sleep(15 * time.Second) // of the bubble
		for _, conn := range stuck {
			_, _ = io.Copy(io.Discard, conn) // until it ends, or is reset
		}
		if waited := time.Since(began); waited > 16*time.Second {
			t.Errorf("clients that do not read were cut off after %v", waited)
		}
	})
}

func TestWhoeverIsToProveWhoTheyAreMust(t *testing.T) {
	// The hash of "secret", by bcrypt at its lowest cost.
	config := filepath.Join(t.TempDir(), "web.yml")
	if err := os.WriteFile(config, []byte("basic_auth_users:\n  prometheus: $2a$04$gxC4XhsjLsvsoIIzmyfHHOjvHLu3RxKRrlxc0Sqf.ewHHr8LK4num\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		network, end := exporting(t, Exporter{Config: config})
		defer end()
		for _, c := range []struct {
			user, password string
			want           int
		}{{"", "", http.StatusUnauthorized}, {"prometheus", "guessed", http.StatusUnauthorized}, {"prometheus", "secret", http.StatusOK}} {
			if got, _ := scrape(t, network, c.user, c.password); got != c.want {
				t.Errorf("as %q with %q: got %d, want %d", c.user, c.password, got, c.want)
			}
		}
	})
}

func TestAWebConfigurationThatCannotBeUsedServesNothing(t *testing.T) {
	w := &Watching{gathering: &gathering{store: collect.New(collect.Options{}), stop: func() {}}}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := w.Serve(l, Exporter{Config: filepath.Join(t.TempDir(), "none.yml")}); err == nil {
		t.Error("a web configuration that is not there: served without it")
	}
}

func TestWhatIsOpenToOthersIsSaid(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tls.yml":  "tls_server_config: {cert_file: c, key_file: k}\n",
		"mtls.yml": "tls_server_config: {cert_file: c, key_file: k, client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca}\n",
		"auth.yml": "basic_auth_users: {p: hash}\n",
		"both.yml": "tls_server_config: {cert_file: c, key_file: k}\nbasic_auth_users: {p: hash}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		address, config string
		want            string
	}{
		"loopback":                     {"127.0.0.1", "", ""},
		"loopback of IPv6":             {"::1", "", ""},
		"all interfaces":               {"0.0.0.0", "", "without TLS and without authentication"},
		"TLS alone":                    {"10.0.0.1", "tls.yml", "without authentication"},
		"TLS with client certificates": {"10.0.0.1", "mtls.yml", ""},
		"a password alone":             {"10.0.0.1", "auth.yml", "without TLS"},
		"TLS and a password":           {"::", "both.yml", ""},
	} {
		e := Exporter{}
		if c.config != "" {
			e.Config = filepath.Join(dir, c.config)
		}
		got, err := e.Exposed(&net.TCPAddr{IP: net.ParseIP(c.address), Port: 9469})
		if err != nil {
			t.Fatal(err)
		}
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestAnExporterListensOnThisMachineAloneUnlessToldOtherwise(t *testing.T) {
	for address, want := range map[string]string{
		":9469": "127.0.0.1:9469", "0.0.0.0:9469": "0.0.0.0:9469", "[::]:9469": "[::]:9469", "leaf:1": "leaf:1", "nonsense": "nonsense",
	} {
		if got := ListenAddress(address); got != want {
			t.Errorf("%s: got %s, want %s", address, got, want)
		}
	}
}
