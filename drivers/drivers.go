// Package drivers is the contract for moving bytes to and from devices. Transports are its folders.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/plan"
)

// Target is an open connection to one device. It is used by one goroutine at a time; whoever dialled it closes it.
// A cancelled or expired context ends every call; whether the device still acted is said by the error's type.
type Target interface {
	// Get asks. An answer that the device does not have is Missing, not an error.
	Get(ctx context.Context, qs []plan.Query) ([]plan.Answer, error)
	// Set sends a chunk: all of it takes effect, or the error says what is known: *RejectedError (nothing took effect),
	// *PartialError (some did), *UnknownError (cannot be told: read before you send again).
	Set(ctx context.Context, c plan.Chunk, p plan.Pending) error
	// Confirm makes what was Set under p stay. It may come from another process than Set. Without a timer it does nothing.
	// An ErrDecided says that nothing of that name waits any more.
	Confirm(ctx context.Context, p plan.Pending) error
	// Cancel makes the device undo what was Set under p and is not confirmed. Without a timer it does nothing.
	Cancel(ctx context.Context, p plan.Pending) error
	Close() error
}

// Dialer opens targets. It may be used from many goroutines at once.
type Dialer interface {
	Dial(ctx context.Context, e Endpoint) (Target, error)
}

// Endpoint is where a device is and how weir proves itself to it.
type Endpoint struct {
	Device   string
	Platform string // names the pack in templates that holds prompts, failure patterns and session verbs
	GNMI     string // host:port; empty: none
	SSH      string // host:port; empty: none
	User     string
	Password Secret // empty: none
	Key      Secret // PEM of an SSH private key; empty: none
	TLS      TLS
	HostKeys string        // path of a known_hosts file
	Insecure Insecure      // every verification that the operator has switched off
	Timeout  time.Duration // of one operation; 0 means the transport's default
}

// TLS is how a gNMI server is verified and how weir shows who it is. Paths of PEM files.
type TLS struct {
	CA         string // empty: the system's roots
	Cert, Key  string // client certificate; both or neither
	ServerName string // when it is not the host of the address
}

// Insecure lists what is not verified. Everything is by default; whoever sets one is told so loudly by cmd.
type Insecure struct {
	Plaintext  bool // gNMI without TLS
	SkipVerify bool // TLS without verifying the certificate
	AnyHostKey bool // SSH without verifying the host key
	OldSSH     bool // SSH with algorithms that are broken: SHA-1 and CBC
}

// Secret is a value that never prints itself.
type Secret string

func (Secret) String() string               { return "redacted" }
func (Secret) GoString() string             { return "redacted" }
func (Secret) MarshalText() ([]byte, error) { return []byte("redacted"), nil }

// ErrNoTransport says that a device has no address of the transport that is needed.
var ErrNoTransport = errors.New("the inventory gives the device no address for it")

// ErrDecided says that no change of that name waits for a confirmation: it was confirmed or cancelled before, or its timer has
// ended. Which of these it was, the configuration of the device tells.
var ErrDecided = errors.New("no change of that name waits for a confirmation: its timer has ended, or it was decided before")

// RejectedError says that the device refused and nothing took effect.
type RejectedError struct {
	Device string
	Input  string // what was refused, as it was sent; empty where it was the whole chunk
	Reason string // the device's own words
	Err    error  // why weir did not send it, where it was not the device that refused; may be nil
}

// NotSent says that nothing took effect because weir stopped before anything could.
func NotSent(device string, err error) *RejectedError {
	why := strings.TrimPrefix(err.Error(), device+": ")
	return &RejectedError{Device: device, Reason: "nothing took effect: " + why, Err: err}
}

func (e *RejectedError) Error() string {
	if e.Err != nil {
		return diag.Plain(fmt.Sprintf("%s: %s", e.Device, e.Reason))
	}
	if e.Input == "" {
		return diag.Plain(fmt.Sprintf("%s: refused: %s", e.Device, e.Reason))
	}
	return diag.Plain(fmt.Sprintf("%s: refused %q: %s", e.Device, e.Input, e.Reason))
}
func (e *RejectedError) Unwrap() error { return e.Err }

// PartialError says that the first Done messages of the chunk took effect and the rest did not.
type PartialError struct {
	Device string
	Done   int
	Err    error
}

func (e *PartialError) Error() string {
	return diag.Plain(fmt.Sprintf("%s: stopped after %d messages: %v", e.Device, e.Done, e.Err))
}
func (e *PartialError) Unwrap() error { return e.Err }

// UnknownError says that nobody can tell yet whether the chunk took effect.
type UnknownError struct {
	Device string
	Err    error
}

func (e *UnknownError) Error() string {
	return diag.Plain(fmt.Sprintf("%s: outcome unknown: %v", e.Device, e.Err))
}
func (e *UnknownError) Unwrap() error { return e.Err }

// AuthError says that the device does not accept who weir says it is, or weir does not accept the device.
type AuthError struct {
	Device string
	Err    error
	Hint   string // what to do
}

func (e *AuthError) Error() string {
	return diag.Plain(fmt.Sprintf("%s: %v: %s", e.Device, e.Err, e.Hint))
}
func (e *AuthError) Unwrap() error { return e.Err }

// UnreachableError says that no connection could be made.
type UnreachableError struct {
	Device, Address string
	Err             error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s: cannot reach %s: %s", e.Device, e.Address, diag.Excerpt(e.Err.Error()))
}
func (e *UnreachableError) Unwrap() error { return e.Err }
