package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/diag"
)

// Lab tells where simulated devices are. It stands in DIR/.weir/lab/lab.json while a lab runs.
type Lab struct {
	Format     int                   `json:"format"`
	PID        int                   `json:"pid,omitempty"` // of the process that serves them; 0: not said
	Scale      float64               `json:"scale"`         // seconds of the devices in one of ours
	Devices    map[string]LabAddress `json:"devices"`
	CA         string                `json:"ca"`
	KnownHosts string                `json:"known_hosts"`
	User       string                `json:"user"`
	Password   string                `json:"password"` // a reference
}

// LabAddress is where one simulated device listens; empty where it has not the protocol.
type LabAddress struct {
	GNMI string `json:"gnmi"`
	SSH  string `json:"ssh"`
}

// LabDir is where the lab of a repo writes where its devices are, and where the journal of what is done to them is.
func LabDir(dir string) string { return filepath.Join(dir, ".weir", "lab") }

// LabFile is the file that tells where the simulated devices of a repo are.
func LabFile(dir string) string { return filepath.Join(LabDir(dir), "lab.json") }

// lab is where the simulated devices of the repo in dir are.
func (e Effects) lab(dir string) (*Lab, error) {
	if e.Lab != nil {
		return e.Lab, nil
	}
	l, err := ReadLab(dir)
	if err != nil {
		return nil, err
	}
	if err := l.own(dir, e.Dial != nil); err != nil {
		return nil, fmt.Errorf("%s is not of a lab that weir started: %w", LabFile(dir), err)
	}
	return l, nil
}

// ReadLab is where the devices are that a running lab simulates for the repo in dir, as its file says. Anybody can have written it.
func ReadLab(dir string) (*Lab, error) {
	body, err := drivers.ReadFile(LabFile(dir), maxLab)
	if err != nil {
		return nil, fmt.Errorf("no lab runs for %s (weir lab %s starts one): %w", dir, dir, err)
	}
	var l Lab
	if err := json.Unmarshal(body, &l); err != nil {
		return nil, fmt.Errorf("read where the lab is: %w", err)
	}
	return &l, nil
}

// RunningLab is the lab that serves the devices of the repo in dir now: one of them answers. Nil where none does, also where the file of
// one that was killed was left behind.
func RunningLab(ctx context.Context, dir string) *Lab {
	l, err := Effects{}.lab(dir)
	if err != nil {
		return nil
	}
	d := net.Dialer{Timeout: time.Second}
	for _, name := range sortedNames(l.Devices) {
		for _, address := range []string{l.Devices[name].SSH, l.Devices[name].GNMI} {
			if address == "" {
				continue
			}
			if conn, err := d.DialContext(ctx, "tcp", address); err == nil {
				_ = conn.Close()
				return l
			}
		}
	}
	return nil
}

// own says why the file is none that a lab on this machine wrote. Anybody can write a file of that name into a repo; so it may
// name loopback and files beside it, and nothing else: no command, no variable and no secret of the operator's goes through it.
// Elsewhere is a network that is not this machine's, whose addresses are its own affair.
func (l Lab) own(dir string, elsewhere bool) error {
	here, err := os.Stat(LabDir(dir))
	if err != nil {
		return err
	}
	secret, isFile := strings.CutPrefix(l.Password, "file:")
	if !isFile {
		return errors.New("its password is no file")
	}
	for _, file := range []string{secret, l.CA, l.KnownHosts} {
		info, err := os.Lstat(file)
		folder, missing := os.Stat(filepath.Dir(file))
		if err != nil || missing != nil || !filepath.IsAbs(file) || !os.SameFile(folder, here) || !info.Mode().IsRegular() {
			return fmt.Errorf("%q is no file beside it", diag.Excerpt(file))
		}
	}
	for name, at := range l.Devices {
		for _, address := range []string{at.GNMI, at.SSH} {
			if to, err := netip.ParseAddrPort(address); !elsewhere && address != "" && (err != nil || !to.Addr().IsLoopback()) {
				return fmt.Errorf("%q of %s is not on loopback", address, diag.Excerpt(name))
			}
		}
	}
	return nil
}

// Scale is how many seconds of the devices pass in one of ours: 1, but in a lab.
func (r *Repo) Scale() float64 {
	if r.lab != nil {
		return r.lab.Scale
	}
	return 1
}

// InWall turns device time into our own.
func (r *Repo) InWall(d time.Duration) time.Duration { return time.Duration(float64(d) / r.Scale()) }
