// Package control is the loop over everything that weir is made of: it opens a fabric repo, observes devices, makes plans, places
// devices in waves, judges what stands between waves, finds drift, carries plans out, and watches. It takes values and functions
// that report, and gives values: it has no flags, prints nothing and knows no exit codes, so that a second program can be
// written on it.
package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
)

// Options say which repo is opened, and how what it says is reached. The zero value is the real thing.
type Options struct {
	Journal string    // the folder where runs are recorded; empty: as StoreOf says
	Lab     bool      // talk to the simulated devices that serve the repo, and not to the real ones
	Record  io.Writer // gets the dialogue with devices, without secrets; nil: nobody does
	Effects Effects
}

// Effects are how one life of weir acts on what is outside of it. The fields that are nil or empty are the real thing; a test
// puts another world there.
type Effects struct {
	Files  fs.FS                                                                // the files of the repo; nil: the folder
	Lab    *Lab                                                                 // where the simulated devices are; nil: what a running lab wrote into the folder
	Dial   func(ctx context.Context, network, address string) (net.Conn, error) // opens connections to devices, as net.Dialer's DialContext does
	Config string                                                               // the file of the operator's own configuration; empty: OperatorFile
	Allow  func(Request) error                                                  // asks the operator, and remembers what is allowed; an error: it is not. Nil: nothing more is allowed
	Secret func(ctx context.Context, reference string) (drivers.Secret, error)  // resolves env:, file: and exec:
	Tracks func(folder string) bool                                             // whether Git keeps files of a folder
	Commit func(dir string) string                                              // the Git commit of a folder; empty where there is none
	Disk   journal.Disk                                                         // that the journal is on
	State  journal.Backend                                                      // that has the journal in the place of a folder; nil: as the operator's configuration says
	Alive  func(pid int) bool                                                   // whether a process of this machine runs
	Now    func() time.Time                                                     // what names and dates
	Who    string                                                               // user@host, for the lock
	PID    int                                                                  // of this process, for the lock
	Boot   string                                                               // which start of the machine the process belongs to; where PID is set
	From   string                                                               // the address that the user came from, for the record; where PID is set
}

// real fills in what is not set.
func (e Effects) real(dir string) Effects {
	if e.Files == nil {
		e.Files = filesOf(dir)
	}
	if e.Config == "" {
		e.Config = OperatorFile()
	}
	if e.Tracks == nil {
		e.Tracks = tracked
	}
	if e.Secret == nil {
		e.Secret = secret
	}
	if e.Commit == nil {
		e.Commit = commitOf
	}
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.PID == 0 {
		e.From, _, _ = strings.Cut(os.Getenv("SSH_CONNECTION"), " ") // as sshd writes it: the client's address comes first
	}
	return e
}

// owner is the process, for the lock: the zero value is this one.
func (e Effects) owner() journal.Owner {
	if e.PID == 0 {
		return journal.Owner{}
	}
	return journal.Owner{Who: e.Who, PID: e.PID, Boot: e.Boot}
}

// commitOf is the commit that the repo's files stand at; empty where there is no Git repo.
func commitOf(dir string) string {
	out, err := git(dir, "rev-parse", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// tracked says whether Git keeps files of a folder: then they came, or go, with the repo.
func tracked(folder string) bool {
	out, err := git(folder, "ls-files", "--", ".")
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return bytes.Contains(failed.Stderr, []byte("dubious ownership")) // somebody else's repo, of which git tells nothing
	}
	return err == nil && out != ""
}

// git runs git in a folder that may hold anything: it starts no program that a configuration there names, and takes no folder
// that only looks like a repo for one.
func git(dir string, args ...string) (string, error) {
	safe := []string{"-C", dir, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.bareRepository=explicit"}
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", append(safe, args...)...).Output()
	return string(out), err
}

// gitTime is how long git may take to answer.
const gitTime = 20 * time.Second
