package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Usage is how much room etcd has, as one of its servers says.
type Usage struct {
	Version     string
	Size, Quota int64 // bytes
	Full        bool  // it has raised its alarm: it takes nothing more
}

// nearlyFull is the share of the quota from which no run begins: the least of 2 GiB that a run over 1,024 switches fits into several
// times (about 20 MB).
const nearlyFull = 0.9

// Usage asks the first server that answers.
func (b *Backend) Usage() (u Usage, err error) {
	err = b.do(func(ctx context.Context, c *clientv3.Client) error {
		var failed []error
		for _, endpoint := range b.config.Endpoints {
			status, err := c.Status(ctx, endpoint)
			if err != nil {
				failed = append(failed, err)
				continue
			}
			u = Usage{Version: status.Version, Size: status.DbSize, Quota: status.DbSizeQuota}
			if u.Quota <= 0 {
				u.Quota = b.config.Quota
			}
			for _, e := range status.Errors {
				u.Full = u.Full || strings.Contains(e, "NOSPACE")
			}
			return nil
		}
		return errors.Join(failed...)
	})
	return u, err
}

// Room is an error where etcd is full or nearly so: what a run would write must fit.
func (b *Backend) Room() error {
	u, err := b.Usage()
	switch {
	case err != nil:
		return err
	case u.Full:
		return b.full("etcd has reached its quota and raised the alarm NOSPACE")
	case float64(u.Size) >= nearlyFull*float64(u.Quota):
		return b.full(fmt.Sprintf("etcd takes %d MiB of its %d MiB", u.Size>>20, u.Quota>>20))
	}
	return nil
}
