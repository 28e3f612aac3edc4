package sonic_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/drivers/sim"
)

func TestACommandThatDoesNotExistIs127(t *testing.T) {
	b := newBench(t, leaf(nil))
	if out, status := b.run("vtysh -c foo", ""); status != 127 || out != "bash: vtysh: command not found\n" {
		t.Errorf("got %q, %d", out, status)
	}
}

func TestALineIsSeveralCommands(t *testing.T) {
	b := newBench(t, leaf(nil))
	for _, c := range []struct {
		line, want string
		status     int
	}{
		{"hostname; hostname", "leaf1\nleaf1\n", 0},
		{"pgrep -f '[/]usr/local/bin/config (apply-patch|load)' || true", "", 0},
		{"pgrep -f nothing && hostname", "", 1},
		{"sudo -n sh -c 'whoami'", "root\n", 0},
		{"cat /no/such/file", "cat: /no/such/file: No such file or directory\n", 1},
		{"hostname | cat", "bash: the lab's shell has neither pipes nor jobs\n", 2},
	} {
		if got, status := b.run(c.line, ""); got != c.want || status != c.status {
			t.Errorf("%s: got %q, %d, want %q, %d", c.line, got, status, c.want, c.status)
		}
	}
	b.run("cat > /tmp/a", "x")
	if got, _ := b.run("mv -f /tmp/a /etc/b && cat /etc/b", ""); got != "x" {
		t.Errorf("a file that was moved is %q", got)
	}
}

func TestConfigNeedsRoot(t *testing.T) {
	b := newBench(t, leaf(nil))
	if out, status := b.run("config save -y", ""); status == 0 || !strings.Contains(out, "Root privileges are required for this operation") {
		t.Errorf("got %q, %d", out, status)
	}
}

func TestABulkLoadAddsAndChangesAndRemovesNothing(t *testing.T) {
	b := newBench(t, leaf(nil))
	file := `{"SCHEDULER": {"scheduler.0": {"weight": "40"}, "new": {"type": "STRICT"}}}`
	if _, status := b.run("cat > /tmp/weir.json", file); status != 0 {
		t.Fatal("the file was not written")
	}
	if out, status := b.run("sudo config load -y /tmp/weir.json && rm -f /tmp/weir.json", ""); status != 0 {
		t.Fatal(out)
	}
	var got map[string]map[string]row
	out, _ := b.run("sonic-cfggen -d --print-data", "")
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]row{"new": {"type": "STRICT"}, "scheduler.0": {"type": "DWRR", "weight": "40"}, "scheduler.1": {"type": "DWRR", "weight": "15"}}
	if diff := cmp.Diff(want, got["SCHEDULER"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c, _ := b.Counters("leaf1", "Ethernet0"); c.Flaps != 0 {
		t.Errorf("the load flapped Ethernet0 %d times", c.Flaps)
	}
	if saved, _ := b.run("cat /etc/sonic/config_db.json", ""); strings.Contains(saved, "STRICT") {
		t.Error("the load was saved by itself")
	}
	b.run("sudo config save -y", "")
	if saved, _ := b.run("cat /etc/sonic/config_db.json", ""); !strings.Contains(saved, "STRICT") {
		t.Error("config save did not save")
	}
	if _, status := b.run("ls /tmp/weir.json", ""); status == 0 {
		t.Error("the file is still there")
	}
}

func TestARollbackGoesThroughTheUpdaterAndFlaps(t *testing.T) {
	b := newBench(t, leaf(nil))
	before := string(mustConfig(t, b))
	for _, line := range []string{"sudo config checkpoint weir", "sudo sonic-db-cli CONFIG_DB HSET 'PORT_QOS_MAP|Ethernet4' pfc_enable 3"} {
		if out, status := b.run(line, ""); status != 0 {
			t.Fatalf("%s: %s", line, out)
		}
	}
	if out, _ := b.run("sudo config list-checkpoints", ""); out != "[\n    \"weir\"\n]\n" {
		t.Errorf("checkpoints: %q", out)
	}
	if out, status := b.run("sudo config rollback weir", ""); status != 0 || !strings.Contains(out, "Config rolled back successfully.") {
		t.Errorf("got %q, %d", out, status)
	}
	if diff := cmp.Diff(before, string(mustConfig(t, b))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if c, _ := b.Counters("leaf1", "Ethernet4"); c.Flaps == 0 {
		t.Error("the rollback flapped nothing")
	}
	if _, status := b.run("sudo config delete-checkpoint weir", ""); status != 0 {
		t.Error("the checkpoint could not be deleted")
	}
	if _, status := b.run("sudo config rollback weir", ""); status == 0 {
		t.Error("a rollback to a deleted checkpoint")
	}
}

func TestADryRunOnlySaysWhetherAPatchWouldBeTaken(t *testing.T) {
	b := newBench(t, leaf(nil))
	before := string(mustConfig(t, b))
	b.run("cat > /tmp/good", `[{"op": "replace", "path": "/SCHEDULER/scheduler.0/weight", "value": "40"}]`)
	b.run("cat > /tmp/bad", `[{"op": "replace", "path": "/SCHEDULER/scheduler.0/weight", "value": "400"}]`)
	if out, status := b.run("sudo config apply-patch -d /tmp/good", ""); status != 0 {
		t.Error(out)
	}
	if out, status := b.run("sudo config apply-patch -d /tmp/bad", ""); status == 0 || !strings.Contains(out, "Data Loading Failed") {
		t.Errorf("got %q, %d", out, status)
	}
	if string(mustConfig(t, b)) != before {
		t.Error("a dry run changed the configuration")
	}
	if out, status := b.run("sudo config apply-patch /tmp/good", ""); status != 0 || !strings.Contains(string(mustConfig(t, b)), `"weight": "40"`) {
		t.Errorf("got %q, %d", out, status)
	}
}

func TestRedisIsReadAndWrittenWithoutValidation(t *testing.T) {
	b := newBench(t, leaf(nil))
	for _, c := range []struct{ line, want string }{
		{"sonic-db-cli CONFIG_DB HGETALL 'SCHEDULER|scheduler.0'", "{'type': 'DWRR', 'weight': '14'}\n"},
		{"sudo sonic-db-cli CONFIG_DB HSET 'SCHEDULER|scheduler.0' weight 999", "0\n"},
		{"sonic-db-cli CONFIG_DB HGET 'SCHEDULER|scheduler.0' weight", "999\n"},
		{"sudo sonic-db-cli CONFIG_DB HDEL 'SCHEDULER|scheduler.0' weight type", "2\n"},
		{"sonic-db-cli CONFIG_DB EXISTS 'SCHEDULER|scheduler.0'", "0\n"},
		{"sonic-db-cli CONFIG_DB HGETALL 'SCHEDULER|scheduler.0'", "{}\n"},
		{"sonic-db-cli CONFIG_DB KEYS 'SCHEDULER|*'", "SCHEDULER|scheduler.1\n"},
		{"sudo sonic-db-cli CONFIG_DB DEL 'SCHEDULER|scheduler.1'", "1\n"},
	} {
		if got, _ := b.run(c.line, ""); got != c.want {
			t.Errorf("%s: got %q, want %q", c.line, got, c.want)
		}
	}
}

func TestCountersAreShown(t *testing.T) {
	b := newBench(t, leaf(nil))
	pfc, _ := b.run("show pfc counters", "")
	if want := "  Port Rx    PFC0    PFC1    PFC2    PFC3    PFC4    PFC5    PFC6    PFC7\n" +
		"---------  ------  ------  ------  ------  ------  ------  ------  ------\n" +
		"Ethernet0       0       0       0       0       0       0       0       0\n"; !strings.HasPrefix(pfc, want) || !strings.Contains(pfc, "Port Tx") {
		t.Errorf("got\n%s", pfc)
	}
	var wred map[string]map[string]any
	text, _ := b.run("show queue wredcounters --json", "")
	if err := json.Unmarshal([]byte(text), &wred); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if diff := cmp.Diff(map[string]any{"wreddroppacket": "N/A", "wreddropbytes": "N/A", "ecnmarkedpacket": "N/A", "ecnmarkedbytes": "N/A"}, wred["Ethernet0"]["UC3"]); diff != "" {
		t.Errorf("while the group is not enabled (-want +got):\n%s", diff)
	}
	var queues map[string]map[string]any
	text, _ = b.run("show queue counters --json", "")
	if err := json.Unmarshal([]byte(text), &queues); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"totalpacket": "0", "totalbytes": "0", "droppacket": "0", "dropbytes": "0"}, queues["Ethernet4"]["UC3"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if drops, _ := b.run("show priority-group drop counters", ""); !strings.HasPrefix(drops, "Ingress PG dropped packets:\n     Port    PG0") {
		t.Errorf("got\n%s", drops)
	}
	if out, _ := b.run("show version", ""); !strings.Contains(out, "SONiC Software Version: SONiC.202511") || !strings.Contains(out, "HwSKU: Mellanox-SN4600C-C64") {
		t.Errorf("got %s", out)
	}
}

func TestTheWatchdogIsShownWhereItIsConfigured(t *testing.T) {
	b := newBench(t, leaf(nil))
	if out, _ := b.run("show pfcwd stats", ""); strings.Contains(out, "Ethernet0:3") {
		t.Errorf("a watchdog that nobody started: %s", out)
	}
	b.run("sudo sonic-db-cli CONFIG_DB HSET 'PFC_WD|Ethernet0' detection_time 200 restoration_time 400 action drop", "")
	out, _ := b.run("show pfcwd stats", "")
	if !strings.Contains(out, "      QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP    RX OK/DROP    TX LAST OK/DROP    RX LAST OK/DROP\n") || !strings.Contains(out, "Ethernet0:3  operational") {
		t.Errorf("got\n%s", out)
	}
	if got := b.rows("COUNTERS/Ethernet0/Pfcwd")["Ethernet0:3"]; got["PFC_WD_STATUS"] != "operational" || got["PFC_WD_DETECTION_TIME"] != "200000" {
		t.Errorf("over gNMI: %v", got)
	}
}

func TestALoginShellSetsATitleBeforeItsPrompt(t *testing.T) {
	b := newBench(t, leaf(nil))
	session, err := b.shell().NewSession()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var out bytes.Buffer
	session.Stdout = &out
	session.Stdin = strings.NewReader("sudo -i\rwhoami\rexit\rexit\r")
	if err := session.RequestPty("vt100", 24, 80, ssh.TerminalModes{}); err != nil {
		t.Fatal(err)
	}
	if err := session.Shell(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- session.Wait() }()
	select {
	case <-done:
	case <-time.After(2 * time.Minute):
		t.Fatal("the shell did not end")
	}
	for _, want := range []string{"\x1b]0;admin@leaf1: ~\x07admin@leaf1:~$ ", "root@leaf1:~# ", "\nroot\r\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
}

func TestFaultsOfASession(t *testing.T) {
	b := newBench(t, leaf(nil))
	b.inject(sim.Session, sim.Reject)
	if _, status := b.run("show version", ""); status == 0 {
		t.Error("a command ran that should not")
	}
	b.inject(sim.Session, sim.Drop)
	session, err := b.shell().NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Run("show version"); err == nil {
		t.Error("a dropped session ended well")
	}
	b.inject(sim.Set, sim.Reject)
	b.run("cat > /tmp/f", "{}")
	if _, status := b.run("sudo config load -y /tmp/f", ""); status == 0 {
		t.Error("a rejected load ended well")
	}
	if out, status := b.run("hostname", ""); status != 0 || out != "leaf1\n" {
		t.Errorf("afterwards: %q, %d", out, status)
	}
}
