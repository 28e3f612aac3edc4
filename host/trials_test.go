package host_test

import (
	"strings"
	"testing"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/linux"
	"github.com/weirfabric/weir/host"
)

func TestADoctorTriesRightsAndTools(t *testing.T) {
	h := random(1)
	trials := host.Language{}.Trials(h)
	if len(trials) < 3 {
		t.Fatalf("got %d trials", len(trials))
	}
	for name, c := range map[string]struct {
		sudoers string
		refused string // empty: every trial goes well
	}{
		"a user who may do everything":   {"admin ALL=(ALL) NOPASSWD: ALL\n", ""},
		"a user who gives his password":  {"admin ALL=(ALL) ALL\n", ""},
		"a user who is not in the file":  {"root ALL=(ALL) ALL\n", "is not in the sudoers file"},
		"a user whom no file speaks of":  {"", "is not in the sudoers file"},
		"a user with a name like his":    {"administrator ALL=(ALL) ALL\n", "is not in the sudoers file"},
		"a user beside one without sudo": {"root ALL=(ALL) ALL\nadmin ALL=(ALL) ALL\n", ""},
	} {
		d := serve(t, linux.New(hardware{sim.Spec{
			Name: h.Name, Platform: "linux", Host: true, Files: map[string][]byte{"/etc/sudoers.d/lab": []byte(c.sudoers)},
			Ports: []sim.PortSpec{{Name: "eth0", RDMA: "mlx5_0", Speed: 100e9}},
		}}), "admin")
		for _, trial := range trials {
			err := d.Apply(trial.Send)
			if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%s: %s: got %v, want %q", name, trial.What, err, c.refused)
			}
			if trial.What == "" || trial.Advice == "" {
				t.Errorf("%+v says nothing", trial)
			}
		}
		if left := d.ask("ls /run"); left != "" {
			t.Errorf("%s: the trials left %q", name, left)
		}
	}
}

// TestAUserWithoutRootReadsWhatRootReads has one whose PATH has no sbin, and messages in his language.
func TestAUserWithoutRootReadsWhatRootReads(t *testing.T) {
	h := random(1)
	files := map[string][]byte{"/etc/default/locale": []byte("LANG=ja_JP.UTF-8\n"), "/home/admin/.bashrc": []byte("echo Welcome to gpu1; cat /etc/motd\n")}
	for _, f := range (host.Language{}).Print(document(t, h)) {
		files["/"+f.Name] = f.Body
	}
	var read [2]string
	for i, user := range []string{"root", "admin"} {
		spec := sim.Spec{Name: h.Name, Platform: "linux", Host: true, Files: files}
		for _, n := range h.NICs {
			spec.Ports = append(spec.Ports, sim.PortSpec{Name: n.Name, RDMA: n.RDMA, Speed: n.Speed})
		}
		state, err := host.Language{}.Read(h, serve(t, linux.New(hardware{spec}), user).Answers(host.Language{}.Queries(h)))
		if err != nil {
			t.Fatalf("%s: %v", user, err)
		}
		read[i] = string(state.Owned.Digest())
	}
	if read[0] != read[1] {
		t.Error("root and another user do not read the same")
	}
}
