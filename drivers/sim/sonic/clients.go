package sonic

import (
	"context"
	"sync"

	"google.golang.org/grpc/peer"
)

// clients are the subscriptions that are open, one for each client: the server tells clients apart by the peer's address, so that
// two subscriptions on one connection are the same one to it (sonic-gnmi, gnmi_server/server.go, "Delete duplicate client").
type clients struct {
	mu   sync.Mutex
	open map[string]*client
}

// client is one subscription. Its stream stays open when another one takes its place, and brings nothing any more.
type client struct{ replaced chan struct{} }

func (c *client) silenced() bool {
	select {
	case <-c.replaced:
		return true
	default:
		return false
	}
}

// enter notes a subscription, and silences the one that the same client had. The function takes it out again.
func (c *clients) enter(ctx context.Context) (*client, func()) {
	name := ""
	if p, ok := peer.FromContext(ctx); ok {
		name = p.Addr.String()
	}
	now := &client{make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[string]*client{}
	}
	if before := c.open[name]; before != nil {
		close(before.replaced)
	}
	c.open[name] = now
	return now, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.open[name] == now {
			delete(c.open, name)
		}
	}
}
