// Package memlock is how much memory services of a Linux host may lock. limits.d counts for logins alone: what systemd starts keeps its
// own LimitMEMLOCK, 8 MiB with systemd 252, until a drop-in of its unit says otherwise (systemd.unit(5), systemd.exec(5)). A service that
// runs keeps what it was started with, and weir starts none again.
package memlock

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weirfabric/weir/intent/addr"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/fabric"
	"github.com/weirfabric/weir/intent/plan"
	"github.com/weirfabric/weir/intent/qos"
)

const check = "language"

// Part begins the paths of this package's leaves: the drop-in of a service, and what systemd has read of it.
const Part = "memlock"

// The leaves of a service.
const (
	dropIn = "drop-in"
	loaded = "loaded"
)

// Unlimited is a limit of none, as operators write it.
const Unlimited = "unlimited"

// infinity is the same in systemd's words.
const infinity = "infinity"

// Parse is a limit in bytes, of what an operator writes; 0: unlimited.
func Parse(written string) (qos.Bytes, error) {
	if written == Unlimited {
		return 0, nil
	}
	return qos.ParseBytes(written)
}

// limitOf is a limit as a unit has it.
func limitOf(written string) (string, error) {
	size, err := Parse(written)
	if err != nil || size == 0 {
		return infinity, err
	}
	return strconv.FormatInt(int64(size), 10), nil
}

// Write is what systemd must have of each service.
func Write(h *fabric.Host) (plan.Document, diag.List) {
	var findings diag.List
	if len(h.MemlockServices) == 0 {
		return nil, nil
	}
	limit, err := limitOf(h.Memlock)
	if err != nil || h.Memlock == "" {
		findings.Errorf(check, h.Address().Of(addr.Hosts, "").With("memlock"), h.At, "services are to lock memory, and how much is not written: write memlock: unlimited, or a size")
		return nil, findings
	}
	var doc plan.Document
	for _, s := range h.MemlockServices {
		doc = append(doc, leaf(h.Name, s, dropIn, text(limit)), leaf(h.Name, s, loaded, limit))
	}
	return doc, nil
}

func text(limit string) string {
	return "# Written by weir: how much memory this service may lock. It counts when the service is started the next time.\n[Service]\nLimitMEMLOCK=" + limit + "\n"
}

func leaf(host, service, name, value string) plan.Leaf {
	return plan.Leaf{Path: []string{Part, service, name}, Value: value, Addr: addr.Device(host).Of(addr.Memlock, service).With(name)}
}

// units is where units of the operator's are.
const units = "/etc/systemd/system/"

// file is the drop-in of a service.
func file(service string) string { return units + service + ".service.d/90-weir.conf" }

// query is what Queries ask.
const query = "memlock-services"

// Queries ask for weir's drop-ins, and what systemd has read of services and what they run with.
func Queries(h *fabric.Host) []plan.Query {
	script := []string{
		"all=" + plan.Word(strings.Join(h.MemlockServices, " ")),
		"for f in " + file("*") + `*; do [ ! -e "$f" ] || { s=${f#` + units + `}; all="$all ${s%%.service.d/*}"; echo "file $f"; grep -H '' "$f"; }; done`,
		`for s in $all; do echo "service $s"; systemctl show -p LoadState -p LimitMEMLOCK -p MainPID "$s.service"; p=$(systemctl show -p MainPID --value "$s.service"); [ "$p" = 0 ] || grep '^Max locked memory' "/proc/$p/limits"; done`,
		"echo end",
	}
	return []plan.Query{{Name: query, Ways: []plan.Way{{Via: plan.SSH, Text: strings.Join(script, "\n")}}}}
}

// service is what a host says of one.
type service struct {
	file         string // its drop-in; empty: none
	load, limit  string
	runs, softly string // what it may lock that runs; empty: it does not run
}

// maxLocked is the row of proc(5)'s limits.
var maxLocked = regexp.MustCompile(`^Max locked memory +(\S+) +(\S+) `)

// look reads the answer.
func look(answers map[string]string) (map[string]*service, error) {
	said := answers[query]
	if !strings.HasSuffix("\n"+said, "\nend\n") {
		return nil, fmt.Errorf("the host does not say all of what services may lock")
	}
	out := map[string]*service{}
	at := func(name string) *service {
		if out[name] == nil {
			out[name] = &service{}
		}
		return out[name]
	}
	var now *service
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(line, "\n")
		key, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "file "):
			at(serviceOf(strings.TrimPrefix(line, "file "))) // one that is empty has no more lines
		case strings.HasPrefix(line, units):
			name, text, _ := strings.Cut(line, ":")
			at(serviceOf(name)).file += text + "\n"
		case strings.HasPrefix(line, "service "):
			now = at(strings.TrimPrefix(line, "service "))
			now.load, now.limit, now.runs = "", "", ""
		case now == nil:
		case key == "LoadState":
			now.load = value
		case key == "LimitMEMLOCK" && now.limit == "":
			now.limit = value
		default:
			if m := maxLocked.FindStringSubmatch(line); m != nil {
				now.softly, now.runs = m[1], m[2]
			}
		}
	}
	return out, nil
}

// serviceOf is the service that a drop-in is of.
func serviceOf(name string) string {
	return strings.TrimSuffix(path.Base(path.Dir(name)), ".service.d")
}

// Facts of a state, before which the service's name stands.
const (
	absentFact = "/service"
	olderFact  = "/runs-with"
)

// Read is what systemd has of the services that are wanted and of those with a drop-in of weir's.
func Read(h *fabric.Host, answers map[string]string, facts map[string]string) (plan.Document, error) {
	services, err := look(answers)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", h.Name, err)
	}
	for _, name := range h.MemlockServices {
		if s := services[name]; s == nil || s.load == "" || s.limit == "" {
			return nil, fmt.Errorf("%s: the host says nothing of what the service %s may lock", h.Name, name)
		}
	}
	var doc plan.Document
	for name, s := range services {
		if s.file != "" {
			doc = append(doc, leaf(h.Name, name, dropIn, s.file))
		}
		if s.load == "not-found" {
			facts[name+absentFact] = s.load
			continue
		}
		if s.file != "" || slices.Contains(h.MemlockServices, name) {
			doc = append(doc, leaf(h.Name, name, loaded, s.limit))
		}
		if locked := strings.Replace(s.runs, Unlimited, infinity, 1); s.runs != "" && locked != s.limit {
			facts[name+olderFact] = s.runs
		}
	}
	doc.Sort()
	return doc, nil
}
