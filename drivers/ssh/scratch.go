package ssh

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/intent/plan"
)

// Folders for what a chunk writes only to have it read by its own commands. mktemp makes one atomically, under a name that nobody can
// foresee and readable by nobody else, so that no local user can put a file there before weir does. Those of runs that were killed
// go before: they belong to the user that weir logs in as, and a device is changed by one run at a time.
const scratchPattern = "/tmp/weir-scratch.XXXXXXXXXXXX"

var scratchName = regexp.MustCompile(`^/tmp/weir-scratch\.[A-Za-z0-9]{12}$`)

// usesScratch says whether a message names the folder.
func usesScratch(messages []plan.Message) bool {
	return slices.ContainsFunc(messages, func(m plan.Message) bool {
		return strings.Contains(m.Path, plan.Scratch) || m.Op == plan.Run && strings.Contains(m.Body, plan.Scratch)
	})
}

// inScratch are the messages with the folder's name in them. What a file holds stays as it is.
func inScratch(messages []plan.Message, dir string) []plan.Message {
	out := slices.Clone(messages)
	for i, m := range out {
		out[i].Path = strings.ReplaceAll(m.Path, plan.Scratch, dir)
		if m.Op == plan.Run {
			out[i].Body = strings.ReplaceAll(m.Body, plan.Scratch, dir)
		}
	}
	return out
}

// asRoot says whether what changes something goes through sudo.
func (s *shell) asRoot() bool { return s.pack.Root && s.endpoint.User != "root" }

// makeScratch makes the folder.
func (s *shell) makeScratch(ctx context.Context) (string, error) {
	user := s.endpoint.User
	if s.asRoot() {
		user = "root"
	}
	sweep := "find /tmp -maxdepth 1 -type d -name 'weir-scratch.*' -user " + plan.Word(user) + " -exec rm -rf {} +"
	out, err := s.run(ctx, s.timeout(), step{command: sweep + "; mktemp -d " + scratchPattern}, s.asRoot())
	if err != nil {
		return "", drivers.NotSent(s.endpoint.Device, fmt.Errorf("make a folder for the change: %w", err))
	}
	dir := strings.TrimSpace(string(out.stdout))
	if out.status != 0 || !scratchName.MatchString(dir) {
		return "", drivers.NotSent(s.endpoint.Device, fmt.Errorf("make a folder for the change: %s", out.reason(s.endpoint)))
	}
	return dir, nil
}

// dropScratch removes the folder, whatever became of the change. Where that fails the next change does it.
func (s *shell) dropScratch(ctx context.Context, dir string) {
	_, _ = s.run(context.WithoutCancel(ctx), s.timeout(), step{command: "rm -rf " + plan.Word(dir)}, s.asRoot())
}
