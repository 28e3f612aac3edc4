package etcd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd/etcdtest"
)

func TestServersAndClientsAreVerified(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{TLS: true})
	stranger := etcdtest.Start(t, etcdtest.Options{TLS: true})
	short := func(c *etcd.Config) { c.Timeout = 9 * time.Second }
	good := open(t, s, "/weir", short)
	if _, err := good.List(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		config func(*etcd.Config)
		want   string
	}{
		"the server's authority is not known": {func(c *etcd.Config) { c.TLS = stranger.TLS() }, "certificate signed by unknown authority"},
		"the system's authorities are asked":  {func(c *etcd.Config) { c.TLS = nil }, "certificate signed by unknown authority"},
		"the client has no certificate": {func(c *etcd.Config) {
			c.TLS = &tls.Config{RootCAs: c.TLS.RootCAs, MinVersion: tls.VersionTLS12}
		}, "certificate"},
	} {
		_, err := open(t, s, "/weir", short, c.config).List()
		var away *journal.UnreachableError
		if !errors.As(err, &away) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAUserMayDoWhatItsRoleSays(t *testing.T) {
	t.Parallel()
	s := etcdtest.Start(t, etcdtest.Options{})
	c := s.Client()
	defer c.Close()
	ctx := t.Context()
	_, r := c.UserAdd(ctx, "root", "toor")
	_, g := c.UserGrantRole(ctx, "root", "root")
	_, u := c.UserAdd(ctx, "weir", "sesame")
	_, a := c.RoleAdd(ctx, "weir")
	_, p := c.RoleGrantPermission(ctx, "weir", "/weir/pod1/", clientv3.GetPrefixRangeEnd("/weir/pod1/"), clientv3.PermissionType(clientv3.PermReadWrite))
	_, w := c.UserGrantRole(ctx, "weir", "weir")
	_, e := c.AuthEnable(ctx)
	if err := errors.Join(r, u, a, p, w, e); err != nil {
		t.Fatal(err, g)
	}
	as := func(password string) func(*etcd.Config) {
		return func(c *etcd.Config) {
			c.User, c.Timeout = "weir", 15*time.Second
			c.Password = func(context.Context) (drivers.Secret, error) { return drivers.Secret(password), nil }
		}
	}
	if lease, j := begin(t, store(open(t, s, "/weir/pod1", as("sesame")), "one")); j == nil || lease.Release() != nil {
		t.Error("it may not do its work")
	}
	if err := open(t, s, "/weir/pod1", as("sesame")).Room(); err != nil {
		t.Errorf("it may not ask for the room: %v", err)
	}
	for name, err := range map[string]error{
		"another fabric":   second(open(t, s, "/weir/pod2", as("sesame")).List()),
		"another password": second(open(t, s, "/weir/pod1", as("wrong")).List()),
		"no user":          second(open(t, s, "/weir/pod1").List()),
	} {
		if err == nil || !strings.Contains(err.Error(), "refuses") || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
