package control

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd/etcdtest"
	"github.com/weirfabric/weir/intent/plan"
)

func TestWhereRunsAreRecordedIsTheOperatorsToSay(t *testing.T) {
	const good = "fabrics: [x], etcd: [\"https://10.0.0.1:2379\"]"
	for name, c := range map[string]struct {
		state   string
		options Options
		want    string // the place
		err     string
	}{
		"nothing is said":                            {"", Options{}, "folder", ""},
		"the fabric is named":                        {"{" + good + "}", Options{}, "etcd https://10.0.0.1:2379 under /weir/x/", ""},
		"the first that fits counts":                 {"{fabrics: [y*], etcd: [\"https://10.0.0.9:2379\"]}, {fabrics: [\"*\"], prefix: /a/b, etcd: [\"https://10.0.0.2:2379\"]}, {" + good + "}", Options{}, "etcd https://10.0.0.2:2379 under /a/b/x/", ""},
		"it is another fabric":                       {"{fabrics: [y], etcd: [\"https://10.0.0.1:2379\"]}", Options{}, "folder", ""},
		"a folder is named":                          {"{" + good + "}", Options{Journal: "elsewhere"}, "folder", ""},
		"it is the lab":                              {"{" + good + "}", Options{Lab: true}, "folder", ""},
		"passwords would go over an open connection": {"{fabrics: [x], etcd: [\"http://10.0.0.1:2379\"], user: weir, password: env:P}", Options{}, "", "http://10.0.0.1:2379 is not encrypted"},
		"a name may be another machine tomorrow":     {"{fabrics: [x], etcd: [\"http://localhost:2379\"]}", Options{}, "", "is not encrypted"},
		"one of several is open":                     {"{fabrics: [x], etcd: [\"https://10.0.0.1:2379\", \"http://10.0.0.2:2379\"]}", Options{}, "", "http://10.0.0.2:2379 is not encrypted"},
		"loopback may be open":                       {"{fabrics: [x], etcd: [\"http://127.0.0.1:2379\"]}", Options{}, "etcd http://127.0.0.1:2379 under /weir/x/", ""},
		"a user has no password":                     {"{" + good + ", user: weir}", Options{}, "", "user and password belong together"},
		"a certificate has no key":                   {"{" + good + ", cert: a.pem}", Options{}, "", "cert and certKey belong together"},
		"the authority is not there":                 {"{" + good + ", ca: gone.pem}", Options{}, "", "read the CA certificate"},
		"an endpoint is none":                        {"{fabrics: [x], etcd: [\"etcd1\"]}", Options{}, "", "etcd1"},
	} {
		body := "kind: Config\n"
		if c.state != "" {
			body = "kind: Config\nstate: [" + c.state + "]\n"
		}
		c.options.Effects = Effects{Files: small("address: x"), Config: configOf(t, body)}
		s, err := StoreOf(t.TempDir(), c.options)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		place := "folder"
		if s.Backend != nil {
			place = s.Backend.Place()
		}
		if err != nil || place != c.want {
			t.Errorf("%s: got %s, %v", name, place, err)
		}
	}
}

func TestARepoWithoutANameHasNoSharedState(t *testing.T) {
	files := small("address: x")
	files["fabric.yaml"].Data = []byte(strings.Replace(string(files["fabric.yaml"].Data), "name: x\n", "", 1))
	_, err := StoreOf(t.TempDir(), Options{Effects: Effects{Files: files, Config: configOf(t, "kind: Config\nstate: [{fabrics: [\"*\"], etcd: [\"https://10.0.0.1:2379\"]}]\n")}})
	if err == nil || !strings.Contains(err.Error(), "nothing says the fabric's name") {
		t.Errorf("got %v", err)
	}
}

// TestTheStateInEtcdIsThatOfEveryCheckout has two checkouts of a fabric on two machines share what is weir's, over TLS.
func TestTheStateInEtcdIsThatOfEveryCheckout(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{TLS: true})
	config := configOf(t, fmt.Sprintf("kind: Config\nstate: [{fabrics: [x], etcd: [%q], ca: %q, cert: %q, certKey: %q, keep: 7}]\n", s.Endpoint, s.Files.CA, s.Files.ClientCert, s.Files.ClientKey))
	openAs := func(who string) *Repo {
		r, err := Open(t.TempDir(), Options{Effects: Effects{Files: small("address: x"), Config: config, Who: who + "@" + who, PID: 1, Boot: who}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ada, eve := openAs("ada"), openAs("eve")
	if ada.Store.Keep != 7 {
		t.Errorf("it keeps %d runs", ada.Store.Keep)
	}
	lease, err := ada.Store.Lock(journal.Lock{Verb: "apply"})
	if err != nil {
		t.Fatal(err)
	}
	j, err := ada.Store.Create(lease.Run(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(j.Append(journal.Record{Kind: journal.Started, Devices: [][]string{{"leaf9"}}}), j.Append(journal.Record{Kind: journal.Ended, Outcome: journal.Applied}),
		j.Close(), ada.Store.SaveManifest(plan.Manifest{"leaf9": {"MAP|a"}}))
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if err := eve.Free(); !errors.As(err, &locked) || locked.Lock.Who != "ada@ada" {
		t.Errorf("got %v", err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	next, err := eve.Reread()
	if err != nil || next == nil || len(next.Orphans()) != 1 || next.Store.Backend != eve.Store.Backend {
		t.Errorf("the other checkout does not see what is weir's now: %+v, %v", next, err)
	}
	for _, trial := range eve.ExamineState() {
		if !trial.OK || trial.What == "room for a run" && !strings.Contains(trial.Text, "of its 2048 MiB") {
			t.Errorf("doctor says %+v", trial)
		}
	}
	s.Kill()
	away, err := Open(t.TempDir(), Options{Effects: Effects{Files: small("address: x"), Config: config, State: eve.Store.Backend}})
	if err != nil || away.Fabric == nil {
		t.Fatalf("without etcd nothing can be said of the fabric: %v", err)
	}
	var unreachable *journal.UnreachableError
	if o := away.Observe(t.Context(), away.Names, "", nil)["leaf1"]; !errors.As(o.Err, &unreachable) {
		t.Errorf("a device is read, and nobody knows what is weir's there: %v", o.Err)
	}
	if err := away.Free(); !errors.As(err, &unreachable) {
		t.Errorf("it is free: %v", err)
	}
	if trials := away.ExamineState(); len(trials) != 1 || trials[0].OK {
		t.Errorf("doctor says %+v", trials)
	}
}

func TestAFolderIsTakenIntoTheStateOfATeam(t *testing.T) {
	s := etcdtest.Start(t, etcdtest.Options{})
	folder := journal.Store{Dir: t.TempDir()}
	lease, err := folder.Lock(journal.Lock{Run: "1", Verb: "release"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(folder.SaveManifest(plan.Manifest{"leaf1": {"MAP|a"}}), lease.Release()); err != nil {
		t.Fatal(err)
	}
	config := configOf(t, fmt.Sprintf("kind: Config\nstate: [{fabrics: [x], etcd: [%q]}]\n", s.Endpoint))
	store, err := StoreOf(t.TempDir(), Options{Effects: Effects{Files: small("address: x"), Config: config}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(store, "nowhere"); err == nil {
		t.Error("a folder that is not there is taken in")
	}
	if _, err := Import(store, t.TempDir()); err == nil || !strings.Contains(err.Error(), "nothing is recorded in") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Import(folder, folder.Dir); err == nil || !strings.Contains(err.Error(), "names no state of a team") {
		t.Errorf("into a folder: %v", err)
	}
	if n, err := Import(store, folder.Dir); err != nil || n != 0 {
		t.Fatalf("got %d, %v", n, err)
	}
	if m, err := store.Manifest(); err != nil || !m.Has("leaf1", "MAP|a") {
		t.Errorf("got %v, %v", m, err)
	}
	if held, err := store.Locked(); held != nil || err != nil {
		t.Errorf("the lock is held: %+v, %v", held, err)
	}
}
