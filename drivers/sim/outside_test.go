package sim_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/drivers/sim/eos"
	"github.com/weirfabric/weir/drivers/sim/linux"
	"github.com/weirfabric/weir/drivers/sim/sonic"
)

// outsider is OpenConfig's own gNMI client, a program that shares no code with weir but the generated protocol.
type outsider struct {
	program string
	lab     *sim.Lab
}

// newOutsider builds gnmi_cli of the release of gnmi that go.mod names, and starts a lab for it.
func newOutsider(t *testing.T) outsider {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	program := filepath.Join(t.TempDir(), "gnmi_cli")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	said, err := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/openconfig/gnmi/cmd/gnmi_cli").CombinedOutput()
	if err != nil {
		t.Fatalf("build gnmi_cli: %v\n%s", err, said)
	}
	lab, err := sim.New(mixed(), sim.Options{Scale: 100, Dir: t.TempDir(), Personalities: map[string]func(sim.Hardware) sim.Personality{
		"sonic": sonic.New, "eos": eos.New, "linux": linux.New,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := lab.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return outsider{program, lab}
}

// run runs gnmi_cli against a device over TLS, with the name and password in the metadata, and gives what it printed.
func (o outsider) run(t *testing.T, device, password string, args ...string) (said string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	address, _ := o.lab.Endpoint(device)
	user, _ := o.lab.Credentials()
	cmd := exec.CommandContext(ctx, o.program, append([]string{"-address", address, "-ca_crt", o.lab.CAFile(), "-server_name", device, "-with_user_pass", "-timeout", "5s"}, args...)...)
	cmd.Env = []string{"GNMI_USER=" + user, "GNMI_PASS=" + password, "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if exited := new(exec.ExitError); err != nil && (!errors.As(err, &exited) || ctx.Err() != nil) {
		t.Fatalf("gnmi_cli %q: %v\n%s", args, err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// brief is the beginning and the end of what a stream brought.
func brief(said string) string {
	if len(said) < 2000 {
		return said
	}
	return said[:1000] + " ... " + said[len(said)-1000:]
}

// cutOff is the exit status of gnmi_cli when the duration of a stream is over: it says that the deadline is exceeded.
const cutOff = 1

func TestAnOutsideClientWorksWithTheSwitches(t *testing.T) {
	o := newOutsider(t)
	_, password := o.lab.Credentials()
	for _, c := range []struct {
		name, device string
		args         []string
		status       int
		want         []string // expressions
	}{
		{"SONiC's capabilities", "leaf1", []string{"-capabilities"}, 0, []string{`supported_encodings: +JSON_IETF`, `gNMI_version: `}},
		{"EOS's capabilities", "leaf2", []string{"-capabilities"}, 0, []string{`"arista-qos-augments"`, `supported_encodings: +JSON_IETF`, `gNMI_version: `}},
		{"a table of SONiC's", "leaf1", []string{"-get", "-proto",
			`path: {origin: "sonic-db" elem: {name: "CONFIG_DB"} elem: {name: "localhost"} elem: {name: "PORT"} elem: {name: "Ethernet0"}} encoding: JSON_IETF`},
			0, []string{`json_ietf_val: +.*\\"speed\\":\\"100000\\"`}},
		{"a leaf of EOS's", "leaf2", []string{"-get", "-proto",
			`path: {elem: {name: "interfaces"} elem: {name: "interface" key: {key: "name" value: "Ethernet1/1"}} elem: {name: "state"} elem: {name: "oper-status"}} encoding: JSON_IETF`},
			0, []string{`json_ietf_val: +.*UP`}},
		{"a show command of EOS's", "leaf2", []string{"-get", "-proto", `path: {origin: "cli" elem: {name: "show hostname"}} encoding: ASCII`},
			0, []string{`ascii_val: +"Hostname: leaf2`}},
		{"what SONiC has not", "leaf1", []string{"-get", "-proto",
			`path: {origin: "sonic-db" elem: {name: "CONFIG_DB"} elem: {name: "localhost"} elem: {name: "QUEUE"} elem: {name: "Ethernet0|7"} elem: {name: "scheduler"}} encoding: JSON_IETF`},
			1, []string{`code = NotFound`}},
		{"EOS's counters, once", "leaf2", []string{"-query_type", "once", "-display_type", "single", "-query",
			"/interfaces/interface[name=Ethernet1/1]/state/counters/in-octets"}, 0, []string{`in-octets[^\d]+\d+`}},
		{"EOS's counters, streamed", "leaf2", []string{"-query_type", "streaming", "-streaming_duration", "1s", "-display_type", "single", "-query",
			"/interfaces/interface[name=Ethernet1/1]/state/counters/in-octets"}, cutOff, []string{`in-octets[^\d]+\d+`, `DeadlineExceeded`}},
		{"SONiC's counters, sampled", "leaf1", []string{"-streaming_duration", "1s", "-display_type", "proto", "-proto",
			`subscribe: {prefix: {target: "COUNTERS_DB"} subscription: {path: {elem: {name: "COUNTERS"} elem: {name: "Ethernet*"}} mode: SAMPLE sample_interval: 1000000000} encoding: JSON_IETF}`},
			cutOff, []string{`SAI_PORT_STAT_IF_IN_OCTETS`, `sync_response: +true`, `DeadlineExceeded`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, status := o.run(t, c.device, password, c.args...)
			if status != c.status {
				t.Errorf("exit status %d, want %d:\n%s", status, c.status, brief(said))
			}
			for _, want := range c.want {
				if !regexp.MustCompile(want).MatchString(said) {
					t.Errorf("nothing matches %q in\n%s", want, brief(said))
				}
			}
		})
	}
}

func TestAnOutsideClientWithAWrongPasswordIsTurnedAway(t *testing.T) {
	o := newOutsider(t)
	for _, device := range []string{"leaf1", "leaf2"} {
		if said, status := o.run(t, device, "wrong", "-capabilities"); status == 0 || !strings.Contains(said, "Unauthenticated") {
			t.Errorf("%s: exit status %d and\n%s", device, status, said)
		}
	}
}
