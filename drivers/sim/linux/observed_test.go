package linux

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weirfabric/weir/drivers/sim"
)

// TestWhatWasObserved has what a real host was observed to do (Debian 12, kernel 6.1.0-50, iproute2 and ethtool 6.1, systemd 252), row
// by row, and what a host of the lab does now. What is not here stands in docs/lab.md among what still differs.
func TestWhatWasObserved(t *testing.T) {
	english, japanese := "cat: /none: No such file or directory\n", "cat: /none: そのようなファイルやディレクトリはありません\n"
	upstream := map[string]string{nicFile: "upstream"}
	vendor := `"tc_tsa":["vendor","vendor","vendor","vendor","vendor","vendor","vendor","vendor"]`
	for row, c := range map[string]struct {
		files map[string]string
		user  string // empty: root
		steps []string
		want  said // of the last step; its text must hold that
	}{
		"users without root have no sbin: dcb":     {user: "admin", steps: []string{"dcb pfc show dev eth0"}, want: said{Err: "sh: 1: dcb: not found", Status: 127}},
		"users without root have no sbin: ethtool": {user: "admin", steps: []string{"ethtool -a eth0"}, want: said{Err: "sh: 1: ethtool: not found", Status: 127}},
		"users without root have no sbin: command": {user: "admin", steps: []string{"command -v dcb || echo $?"}, want: said{Out: "127\n"}},
		"with sbin in the PATH they are found":     {user: "admin", steps: []string{"export PATH=/usr/sbin:/usr/bin; dcb dcbx show dev eth0"}, want: said{Out: "host ieee\n"}},
		"sudo has a PATH of its own":               {user: "admin", steps: []string{"sudo -n dcb dcbx show dev eth0"}, want: said{Out: "host ieee\n"}},
		"messages are in the language of the host": {files: map[string]string{"/etc/default/locale": "LANG=ja_JP.UTF-8\n"}, steps: []string{"cat /none"}, want: said{Err: japanese, Status: 1}},
		"LC_ALL makes them English": {files: map[string]string{"/etc/default/locale": "LANG=ja_JP.UTF-8\n"}, user: "admin",
			steps: []string{"sh -c 'export LC_ALL=C; cat /none'"}, want: said{Err: english, Status: 1}},
		".bashrc prints before the answer": {files: map[string]string{"/root/.bashrc": "echo Welcome\n"}, steps: []string{"echo answer"}, want: said{Out: "Welcome\nanswer\n"}},
		"default of the NIC: TSA":          {files: upstream, steps: []string{"dcb -j ets show dev eth0"}, want: said{Out: vendor}},
		"default of the NIC: shares":       {files: upstream, steps: []string{"dcb -j ets show dev eth0"}, want: said{Out: `"tc_bw":[100,100,100,100,100,100,100,100]`}},
		"default of the NIC: priorities":   {files: upstream, steps: []string{"dcb -j ets show dev eth0"}, want: said{Out: `"prio_tc":[1,0,2,3,4,5,6,7]`}},
		"default of the NIC: DCBX":         {files: upstream, steps: []string{"dcb dcbx show dev eth0"}, want: said{Out: "host cee ieee\n"}},
		"default of the NIC: PFC delay":    {files: upstream, steps: []string{"dcb -j pfc show dev eth0"}, want: said{Out: `"delay":7,`}},
		"a strict class has a share of 100": {files: upstream, steps: []string{"dcb ets set dev eth0 tc-tsa all:ets 6:strict tc-bw all:0 0:100", "dcb -j ets show dev eth0"},
			want: said{Out: `"tc_bw":[100,0,0,0,0,0,100,0]`}},
		"the shares that the driver reports are none that dcb takes": {files: upstream, steps: []string{"dcb ets set dev eth0 tc-tsa all:vendor"},
			want: said{Err: "Bandwidth percentages in tc-bw sum to 800%, expected 0%\n", Status: 1}},
		"replace where it is refused ends well":  {steps: []string{"dcb app replace dev eth0 dscp-prio 26:9"}, want: said{Err: "Could not add new APP entries\n"}},
		"a module that others use stays":         {steps: []string{"modprobe -a ib_iser rpcrdma", "modprobe -r rdma_cm"}, want: said{Err: "modprobe: FATAL: Module rdma_cm is in use.\n", Status: 1}},
		"dcb of a device without DCB":            {steps: []string{"dcb pfc show dev lo"}, want: said{Err: "Operation not supported\n", Status: 1}},
		"dcb of a device that is not there":      {steps: []string{"dcb pfc show dev eth9"}, want: said{Err: "No such device\n", Status: 1}},
		"a NIC without autonegotiation of pause": {steps: []string{"ethtool -A eth0 autoneg on"}, want: said{Err: "Invalid argument\n", Status: 76}},
		"configfs of a device that is not there": {steps: []string{"modprobe rdma_cm", "mkdir " + configfs + "/mlx5_9"}, want: said{Err: "No such device\n", Status: 1}},
		"a user who may not use sudo":            {files: map[string]string{sudoers: ""}, user: "admin", steps: []string{"sudo -n true"}, want: said{Err: "sudo: a password is required\n", Status: 1}},
		"nor with his password":                  {files: map[string]string{sudoers: ""}, user: "admin", steps: []string{"echo x | sudo -S true"}, want: said{Err: "admin is not in the sudoers file.\n", Status: 1}},
		"a user who is asked":                    {files: map[string]string{sudoers: "admin ALL=(ALL) ALL\n"}, user: "admin", steps: []string{"echo x | sudo -S id -u"}, want: said{Out: "0\n"}},
		"services have a limit of their own":     {steps: []string{"systemctl show -p LimitMEMLOCK slurmd"}, want: said{Out: "LimitMEMLOCK=8388608\n"}},
		"and what runs keeps it": {
			steps: []string{"mkdir -p /etc/systemd/system/ssh.service.d; printf '[Service]\\nLimitMEMLOCK=infinity\\n' > /etc/systemd/system/ssh.service.d/x.conf; systemctl daemon-reload",
				"systemctl show -p LimitMEMLOCK ssh; grep -c 8388608 /proc/$(systemctl show -p MainPID --value ssh)/limits"}, want: said{Out: "LimitMEMLOCK=infinity\n1\n"}},
		"NICs have the names that they have": {steps: []string{"ls /sys/class/net"}, want: said{Out: "eth0\nlo\n"}},
	} {
		t.Run(row, func(t *testing.T) {
			d := server(newBench(c.files))
			if c.user != "" {
				d.user = c.user
			}
			var got said
			for _, step := range c.steps {
				got = run(t, d, step, "")
			}
			if got.Status != c.want.Status || !strings.Contains(got.Out, c.want.Out) || !strings.HasSuffix(got.Err, c.want.Err) && !strings.HasPrefix(got.Err, c.want.Err) ||
				c.want.Err == "" && got.Err != "" {
				t.Errorf("%s: got %+v, want %+v", c.steps[len(c.steps)-1], got, c.want)
			}
		})
	}
}

func TestAChangeOfPFCTakesThePortDownAndUp(t *testing.T) {
	for manner, want := range map[string]int{"upstream": 2, "": 0} {
		b := newBench(map[string]string{nicFile: manner})
		must(t, server(b), "dcb pfc set dev eth0 prio-pfc 3:on", "dcb pfc set dev eth0 prio-pfc 3:on", "dcb pfc set dev eth0 prio-pfc 3:off")
		if b.flaps != want {
			t.Errorf("%q: %d flaps, want %d", manner, b.flaps, want)
		}
	}
}

// TestAProtocolErrorSaysNothingOfTheEffect has every other one of them take effect.
func TestAProtocolErrorSaysNothingOfTheEffect(t *testing.T) {
	b := newBench(nil)
	d := server(b)
	want := said{Err: "Attribute write: Protocol error\n", Status: 1}
	var on []bool
	for _, q := range []string{"1", "2", "3", "4"} {
		b.fault = sim.Unsure
		if diff := cmp.Diff(want, run(t, d, "dcb pfc set dev eth0 prio-pfc "+q+":on", "")); diff != "" {
			t.Fatal(diff)
		}
		on = append(on, strings.Contains(run(t, d, "dcb pfc show dev eth0", "").Out, q+":on"))
	}
	if diff := cmp.Diff([]bool{true, false, true, false}, on); diff != "" {
		t.Error(diff)
	}
	b.fault = sim.Unsure
	must(t, d, "mkdir /etc/new") // only dcb says so
}

// TestANICMayAppearAfterTheUnits has a unit that ends before the NIC is there, and is started again by it.
func TestANICMayAppearAfterTheUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := server(newBench(map[string]string{lateFile: "eth0 20s\n", "/etc/systemd/system/a.service": "[Service]\nExecStart=/bin/sh -c 'ls /sys/class/net >> /etc/seen'\n" +
			"[Install]\nWantedBy=sys-subsystem-net-devices-eth0.device\n"}))
		must(t, d, "systemctl enable --now a.service")
		if got := run(t, d, "ls /sys/class/net /sys/class/infiniband; dcb pfc show dev eth0", ""); slices.Contains(strings.Fields(got.Out), "eth0") || got.Status == 0 {
			t.Errorf("eth0 is there at once: %+v", got)
		}
		time.Sleep(21 * time.Second)
		d.Wait()
		if diff := cmp.Diff(said{Out: "lo\neth0\nlo\n"}, run(t, d, "cat /etc/seen", "")); diff != "" {
			t.Error(diff)
		}
		if got := run(t, d, "ls /sys/class/infiniband", ""); got.Out != "mlx5_0\n" {
			t.Errorf("got %+v", got)
		}
	})
}
