package control

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/gnmi"
	"github.com/weirfabric/weir/drivers/ssh"
	"github.com/weirfabric/weir/inventory"
	"github.com/weirfabric/weir/templates/pack"
)

// transports are the ways to devices.
func (e Effects) transports() drivers.Dialer {
	return drivers.Routed{
		GNMI: drivers.Retry{Dialer: gnmi.Dialer{Packs: packs, DialContext: e.Dial}},
		SSH:  drivers.Retry{Dialer: ssh.Dialer{Packs: packs, DialContext: e.Dial}},
	}
}

// dialer connects to the devices of a repo.
func (r *Repo) dialer() drivers.Dialer {
	if r.recorder != nil {
		return r.recorder
	}
	return r.effects.transports()
}

// endpoint is how a device is reached. Secrets are resolved here and nowhere else.
func (r *Repo) endpoint(ctx context.Context, name string) (drivers.Endpoint, error) {
	d := r.Device(name)
	if d == nil {
		return drivers.Endpoint{}, fmt.Errorf("%s is not in the inventory", name)
	}
	if r.lab != nil {
		return r.labEndpoint(ctx, d)
	}
	if err := r.permit(d); err != nil {
		return drivers.Endpoint{}, err
	}
	session, err := pack.ReadSession(packs, d.Platform.V)
	if err != nil {
		return drivers.Endpoint{}, err
	}
	m := d.Management
	if m.Address.V == "" {
		return drivers.Endpoint{}, fmt.Errorf("%s has no management address in the inventory", name)
	}
	e := drivers.Endpoint{
		Device: name, Platform: d.Platform.V, User: m.User.V, HostKeys: r.path(m.HostKeys.V),
		SSH:      net.JoinHostPort(m.Address.V, strconv.Itoa(cmp.Or(m.SSH.V, session.SSH.Port))),
		TLS:      drivers.TLS{CA: r.path(m.CA.V), Cert: r.path(m.Cert.V), Key: r.path(m.CertKey.V), ServerName: m.ServerName.V},
		Insecure: drivers.Insecure{Plaintext: m.TLS.V == "plaintext", SkipVerify: m.TLS.V == "skip-verify", AnyHostKey: m.HostKey.V == "any", OldSSH: m.SSHAlgorithms.V == "any"},
	}
	if port := cmp.Or(m.GNMI.V, session.GNMI.Port); port != 0 {
		e.GNMI = net.JoinHostPort(m.Address.V, strconv.Itoa(port))
	}
	if e.Password, err = r.effects.Secret(ctx, r.reference(m.Password.V)); err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	if e.Key, err = r.effects.Secret(ctx, r.reference(m.Key.V)); err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	return e, nil
}

// labEndpoint is how a simulated device is reached: the lab may have been started anew, at other addresses and with another authority.
func (r *Repo) labEndpoint(ctx context.Context, d *inventory.Device) (drivers.Endpoint, error) {
	lab, err := r.effects.lab(r.Dir)
	if err != nil {
		lab = r.lab
	}
	at, simulated := lab.Devices[d.Name.V]
	if !simulated {
		return drivers.Endpoint{}, fmt.Errorf("%s is not in the running lab: start it again", d.Name.V)
	}
	password, err := r.effects.Secret(ctx, lab.Password)
	return drivers.Endpoint{Device: d.Name.V, Platform: d.Platform.V, GNMI: at.GNMI, SSH: at.SSH, User: lab.User, Password: password,
		TLS: drivers.TLS{CA: lab.CA}, HostKeys: lab.KnownHosts}, err
}

// reference takes the file of a secret as relative to the repo, and gives it as an absolute one.
func (r *Repo) reference(secret string) string {
	const file = "file:"
	if len(secret) > len(file) && secret[:len(file)] == file {
		path := r.path(secret[len(file):])
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		return file + path
	}
	return secret
}

// Dial connects to a device of the repo.
func (r *Repo) Dial(ctx context.Context, name string) (drivers.Target, error) {
	e, err := r.endpoint(ctx, name)
	if err != nil {
		return nil, err
	}
	return r.dialer().Dial(ctx, e)
}

// Unverified is something about a device that the inventory says is not verified.
type Unverified struct {
	Device  string
	Text    string // what follows from it
	Setting string // as it stands in the inventory
}

// Unverified lists what is not verified of the devices. A lab is verified always.
func (r *Repo) Unverified(names []string) []Unverified {
	var out []Unverified
	if r.lab != nil {
		return nil
	}
	for _, name := range names {
		m := r.Device(name).Management
		for _, u := range []Unverified{
			{name, map[string]string{"plaintext": "gNMI runs without TLS: anyone on the path reads and changes it", "skip-verify": "the certificate of its gNMI server is not verified"}[m.TLS.V], m.TLS.V},
			{name, map[string]string{"any": "any SSH host key is accepted"}[m.HostKey.V], m.HostKey.V},
			{name, map[string]string{"any": "SSH may use algorithms that are broken"}[m.SSHAlgorithms.V], "sshAlgorithms: " + m.SSHAlgorithms.V},
		} {
			if u.Text != "" {
				out = append(out, u)
			}
		}
	}
	return out
}
