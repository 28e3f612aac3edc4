package journal

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Owner is a process, told apart from all that ever ran on any machine.
type Owner struct {
	Who    string    `json:"who"`             // user@host
	PID    int       `json:"pid"`             // on its machine
	Boot   string    `json:"boot,omitempty"`  // which start of its machine it belongs to
	Start  string    `json:"start,omitempty"` // when the process started, in the kernel's ticks since then
	Space  string    `json:"space,omitempty"` // the kernel's name space that PID counts in
	Booted time.Time `json:"-"`               // when this machine started; zero: not known
}

func (o Owner) host() string {
	_, host, _ := strings.Cut(o.Who, "@")
	return host
}

// Self is this process.
func Self() Owner {
	o := Owner{Who: "unknown", PID: os.Getpid(), Start: startOf(os.Getpid())}
	if u, err := user.Current(); err == nil {
		o.Who = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		o.Who += "@" + host
	}
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		o.Boot = strings.TrimSpace(string(id))
	}
	o.Space, _ = os.Readlink("/proc/self/ns/pid")
	stat, _ := os.ReadFile("/proc/stat")
	for line := range strings.Lines(string(stat)) {
		if at, ok := strings.CutPrefix(line, "btime "); ok {
			if seconds, err := strconv.ParseInt(strings.TrimSpace(at), 10, 64); err == nil {
				o.Booted = time.Unix(seconds, 0)
			}
		}
	}
	return o
}

// startOf is when a process started: field 22 of /proc/PID/stat, counted from behind the name, which may hold anything. Empty
// where that cannot be known.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const start = 22 - 3
	if len(fields) <= start {
		return ""
	}
	return fields[start]
}

// owner is the process that uses the store.
func (s Store) owner() Owner {
	if s.Owner.PID != 0 {
		return s.Owner
	}
	return Self()
}

// Who is the user and host on whose behalf the store is used: user@host.
func (s Store) Who() string { return s.owner().Who }

// alive says whether a process of this machine runs, and is still the one that took its number. One that belongs to another
// user lives as well.
func (s Store) alive(o Owner) bool {
	if s.Alive != nil {
		return s.Alive(o.PID)
	}
	if err := syscall.Kill(o.PID, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	now := startOf(o.PID)
	return o.Start == "" || now == "" || now == o.Start
}
