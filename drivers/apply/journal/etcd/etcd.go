// Package etcd has the journals, the manifest and the lock of a team in etcd: a journal.Backend whose every write is a transaction
// that holds only while the lock is still the one that this process took.
package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/intent/plan"
)

// Config says where etcd is, and who asks.
type Config struct {
	Endpoints []string                                      // https://HOST:PORT each; http:// is not encrypted
	Prefix    string                                        // of every key: one for each fabric
	TLS       *tls.Config                                   // how servers are verified, and the certificate of the client; nil: by the system's authorities
	User      string                                        // empty: the certificate alone says who asks, or nobody
	Password  func(context.Context) (drivers.Secret, error) // of User
	TTL       time.Duration                                 // after which the lock goes whose owner is silent; 3 minutes, and more than the time that a journal.Lease may be silent
	Timeout   time.Duration                                 // of one operation, through elections and restarts; 15 seconds
	Quota     int64                                         // bytes that etcd may take, where it does not say so itself (before 3.6); its own default, 2 GiB
}

// Backend is a journal.Backend in etcd. It connects when it is used first.
type Backend struct {
	config Config
	prefix string

	mu     sync.Mutex
	client *clientv3.Client // nil: not connected
	served bool             // an operation was answered: until then none is waited for as long
	down   bool             // the last operation was not answered in time: the next one is not waited for as long either
	lease  clientv3.LeaseID // of the lock
	fence  int64            // the revision at which the lock was created; 0: it is not this process's
	owned  plan.Manifest    // as it was read or written last
}

var _ journal.Backend = (*Backend)(nil)

// Open is the state in etcd. Nothing is asked of any server yet.
func Open(c Config) (*Backend, error) {
	if len(c.Endpoints) == 0 {
		return nil, errors.New("etcd has no endpoints")
	}
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{{&c.TTL, 3 * time.Minute}, {&c.Timeout, 15 * time.Second}} {
		if *d.value <= 0 {
			*d.value = d.standard
		}
	}
	if c.Quota <= 0 {
		c.Quota = 2 << 30
	}
	return &Backend{config: c, prefix: strings.TrimRight(c.Prefix, "/") + "/"}, nil
}

// Place is the servers and the prefix.
func (b *Backend) Place() string {
	return fmt.Sprintf("etcd %s under %s", strings.Join(b.config.Endpoints, ","), b.prefix)
}

// Close ends the connection.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client == nil {
		return nil
	}
	err := b.client.Close()
	b.client = nil
	return err
}

// Times of the connection. An attempt is shorter than an operation, so that one server of several that hangs is left for the next.
const (
	attempt   = 4 * time.Second
	greeting  = time.Second     // to find out why nobody answers, and to give a lease back
	reconnect = 2 * time.Second // the longest pause between two tries to connect
)

// connected is the connection, which is made where there is none.
func (b *Backend) connected(ctx context.Context) (*clientv3.Client, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.client != nil {
		return b.client, nil
	}
	c := clientv3.Config{
		Endpoints: b.config.Endpoints, TLS: b.config.TLS, Username: b.config.User, DialTimeout: attempt, Logger: zap.NewNop(),
		DialKeepAliveTime: 20 * time.Second, DialKeepAliveTimeout: attempt,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: reconnect}, MinConnectTimeout: attempt})},
	}
	if b.config.Password != nil {
		password, err := b.config.Password(ctx)
		if err != nil {
			return nil, fmt.Errorf("the password of etcd: %w", err)
		}
		c.Password = string(password)
	}
	client, err := clientv3.New(c)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	b.client = client
	return client, nil
}

// do does what is asked, and again while etcd does not answer or has no leader, until the time of an operation is over. So what is
// asked must be the same when it has already taken effect. A run that goes on waits longest.
func (b *Backend) do(what func(ctx context.Context, c *clientv3.Client) error) error {
	b.mu.Lock()
	limit := b.config.Timeout
	switch {
	case b.down:
		limit /= 15 // a second, as operations are by default
	case !b.served:
		limit /= 3 // whoever only looks at a repo does not wait long for a server that is away
	}
	b.mu.Unlock()
	whole, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	pause := drivers.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for {
		err := b.attempt(whole, what)
		again := transient(err)
		over := again && !pause.Wait(whole)
		b.mu.Lock()
		b.down, b.served = over, b.served || !again
		b.mu.Unlock()
		if !again {
			return b.failure(err)
		}
		if over {
			return &journal.UnreachableError{Place: b.Place(), Err: b.reason(err)}
		}
	}
}

func (b *Backend) attempt(ctx context.Context, what func(ctx context.Context, c *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	c, err := b.connected(ctx)
	if err != nil {
		return err
	}
	return what(ctx, c)
}

// transient says that it may be otherwise in a moment.
func transient(err error) bool {
	if err == nil {
		return false
	}
	var ofEtcd rpctypes.EtcdError
	if errors.As(err, &ofEtcd) {
		return ofEtcd.Code() == codes.Unavailable || ofEtcd.Code() == codes.DeadlineExceeded
	}
	if s, ok := status.FromError(err); ok && (s.Code() == codes.Unavailable || s.Code() == codes.DeadlineExceeded) {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// failure is an error of etcd as an operator reads it.
func (b *Backend) failure(err error) error {
	var ofEtcd rpctypes.EtcdError
	if !errors.As(err, &ofEtcd) {
		return err
	}
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		return b.full("etcd has reached its quota")
	case ofEtcd.Code() == codes.PermissionDenied || ofEtcd.Code() == codes.Unauthenticated || errors.Is(err, rpctypes.ErrAuthFailed) || errors.Is(err, rpctypes.ErrUserEmpty):
		return fmt.Errorf("%s refuses: %w: the user needs a role that may read and write every key under %s", b.Place(), err, b.prefix)
	}
	return fmt.Errorf("%s: %w", b.Place(), err)
}

func (b *Backend) full(why string) error {
	return &journal.FullError{Place: b.Place(), Why: why +
		": compact and defragment it, give it a larger --quota-backend-bytes, or let weir keep fewer runs (keep:); where it has raised the alarm NOSPACE, disarm that afterwards"}
}

// Of the keys under the prefix:
const (
	idKey      = "id"       // what tells this state apart from all others
	lockKey    = "lock"     // the lock, on the lease of its owner
	brokenKeys = "broken/"  // REVISION: a lock that was taken from its owner, and why
	ownedKeys  = "owned/"   // DEVICE: the shared objects that are weir's there
	headKeys   = "head/"    // RUN: how many records there are, and a digest of the last
	recordKeys = "record/"  // RUN/NUMBER
	indexKeys  = "index/"   // RUN/NUMBER
	endedKeys  = "ended/"   // RUN: the summary of a run that has ended
	usesKeys   = "uses/"    // RUN/PIECE: a piece that records of the run name
	pieceKeys  = "piece/"   // DIGEST: of a document
	copyKeys   = "damaged/" // RUN/COPY/NUMBER: a journal that was replaced
)

func (b *Backend) key(parts ...string) string { return b.prefix + strings.Join(parts, "") }

// of begins the keys of a run.
func (b *Backend) of(keys, run string) string { return b.key(keys, run, "/") }

// numbered is the key of a run's nth record or entry, from 1.
func numbered(prefix string, n int) string { return fmt.Sprintf("%s%08d", prefix, n) }
