package control

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirfabric/weir/drivers"
	"github.com/weirfabric/weir/drivers/apply/journal"
	"github.com/weirfabric/weir/drivers/apply/journal/etcd"
	"github.com/weirfabric/weir/intent"
	"github.com/weirfabric/weir/intent/diag"
	"github.com/weirfabric/weir/intent/qos"
	"github.com/weirfabric/weir/intent/source"
)

// stateAt is an etcd that the runs on some fabrics are recorded in. It stands in the operator's own configuration alone: what a repo says
// leads no credential anywhere, and chooses no more than the name under which its fabric is found here.
type stateAt struct {
	Fabrics  []source.Value[string]  `yaml:"fabrics,required" form:"glob" doc:"The fabrics whose runs are recorded there: names, as fabric.yaml has them, or globs."`
	Etcd     []source.Value[string]  `yaml:"etcd,required" form:"endpoint" doc:"The servers: https://HOST:PORT each. http:// is taken on loopback alone."`
	Prefix   source.Value[string]    `yaml:"prefix" form:"prefix" doc:"What keys begin with; the fabric's name comes after it. /weir"`
	CA       source.Value[string]    `yaml:"ca" form:"file" doc:"PEM file of the authority that signed the servers' certificates; without it the system's authorities count."`
	Cert     source.Value[string]    `yaml:"cert" form:"file" doc:"PEM file of weir's own certificate."`
	CertKey  source.Value[string]    `yaml:"certKey" form:"file" doc:"PEM file of the key of that certificate."`
	User     source.Value[string]    `yaml:"user" form:"user" doc:"Who logs in, where etcd has users."`
	Password source.Value[string]    `yaml:"password" form:"reference" doc:"The user's password: env:NAME, file:PATH or exec:COMMAND."`
	Keep     source.Value[int]       `yaml:"keep" min:"1" max:"100000" doc:"How many runs that have ended keep their records; of older ones the list, who, when, why and how they ended stays. 50"`
	Quota    source.Value[qos.Bytes] `yaml:"quota" min:"16MiB" doc:"etcd's --quota-backend-bytes, for an etcd before 3.6, which does not tell it. 2GiB"`
	At       diag.Pos
}

// keptRuns is how many runs keep their records in etcd where the operator says nothing: one over 1,024 switches takes about 20 MB, so
// that 50 of them fit into half of etcd's own quota of 2 GiB.
const keptRuns = 50

// StoreOf is where the journal of a repo is: where the options say, else that of its lab apart, else in the etcd that the operator's
// configuration names for the fabric, else in the repo.
func StoreOf(dir string, o Options) (journal.Store, error) {
	e := o.Effects.real(dir)
	s := journal.Store{Dir: filepath.Join(dir, ".weir"), Disk: e.Disk, Now: o.Effects.Now, Alive: e.Alive, Owner: e.owner()}
	switch {
	case o.Journal != "":
		s.Dir = o.Journal
	case e.State != nil:
		s.Backend, s.Keep = e.State, keptRuns
	case o.Lab:
		s.Dir = LabDir(dir)
	case e.Disk == nil:
		if err := e.shared(&s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// shared puts the etcd in the place of the folder that the operator's configuration names for the fabric, if it does.
func (e Effects) shared(s *journal.Store) error {
	c, err := e.operator()
	if err != nil || len(c.State) == 0 {
		return err
	}
	f, _ := intent.Load(e.Files) // what is wrong with it is told by whoever needs it to be right
	if !f.Name.Set() {
		return fmt.Errorf("nothing says the fabric's name, and your configuration (%s) has the state of fabrics by name: write it into fabric.yaml", e.Config)
	}
	at := slices.IndexFunc(c.State, func(a stateAt) bool {
		return slices.ContainsFunc(a.Fabrics, func(g source.Value[string]) bool { return matches(g.V, f.Name.V) })
	})
	if at < 0 {
		return nil
	}
	config, err := e.etcd(c.State[at], f.Name.V)
	if err == nil {
		s.Backend, err = etcd.Open(config)
	}
	if err != nil {
		return fmt.Errorf("%s: state of %s in etcd: %w", c.State[at].At, f.Name.V, err)
	}
	s.Keep = cmp.Or(c.State[at].Keep.V, keptRuns)
	return nil
}

// etcd is how the etcd of an entry is reached.
func (e Effects) etcd(a stateAt, fabric string) (etcd.Config, error) {
	c := etcd.Config{Prefix: cmp.Or(a.Prefix.V, "/weir") + "/" + fabric, User: a.User.V, Quota: int64(a.Quota.V)}
	for _, endpoint := range a.Etcd {
		u, err := url.Parse(endpoint.V)
		if err != nil {
			return c, err
		}
		if at, unread := netip.ParseAddr(u.Hostname()); u.Scheme != "https" && (unread != nil || !at.IsLoopback()) {
			return c, fmt.Errorf("%s is not encrypted, and only 127.0.0.1 or ::1 may do without: write https://", endpoint.V)
		}
		c.Endpoints = append(c.Endpoints, endpoint.V)
	}
	if slices.ContainsFunc(c.Endpoints, func(endpoint string) bool { return strings.HasPrefix(endpoint, "https:") }) {
		var err error
		if c.TLS, err = e.certificates(a); err != nil {
			return c, err
		}
	}
	if (a.User.V == "") != (a.Password.V == "") {
		return c, errors.New("user and password belong together")
	}
	if a.Password.V != "" {
		reference := a.Password.V
		if file, found := strings.CutPrefix(reference, "file:"); found {
			reference = "file:" + e.beside(file)
		}
		c.Password = func(ctx context.Context) (drivers.Secret, error) { return e.Secret(ctx, reference) }
	}
	return c, nil
}

// certificates verify the servers and show who weir is. Its own is read at each connection, since it may be renewed while weir watches.
func (e Effects) certificates(a stateAt) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.CA.V != "" {
		pem, err := drivers.ReadFile(e.beside(a.CA.V), drivers.MaxKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the CA certificate: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", a.CA.V)
		}
	}
	if (a.Cert.V == "") != (a.CertKey.V == "") {
		return nil, errors.New("cert and certKey belong together")
	}
	if a.Cert.V == "" {
		return config, nil
	}
	read := func() (*tls.Certificate, error) {
		cert, err := drivers.ReadFile(e.beside(a.Cert.V), drivers.MaxKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate: %w", err)
		}
		key, err := drivers.ReadFile(e.beside(a.CertKey.V), drivers.MaxKeyFile)
		if err != nil {
			return nil, fmt.Errorf("read the key of the client certificate: %w", err)
		}
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("read the client certificate: %w", err)
		}
		return &pair, nil
	}
	if _, err := read(); err != nil {
		return nil, err
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return read() }
	return config, nil
}

// beside takes a file name as relative to the operator's own configuration.
func (e Effects) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(e.Config), name)
}

// ExamineState tries what weir needs of the state that a team shares; nothing where the repo's is a folder.
func (r *Repo) ExamineState() []Trial {
	if r.Store.Backend == nil {
		return nil
	}
	reached := Trial{What: "state", OK: true, Text: r.Store.Backend.Place()}
	if _, err := r.Store.Locked(); err != nil {
		reached.OK, reached.Text = false, err.Error()
		return []Trial{reached}
	}
	room := Trial{What: "room for a run", OK: true, Text: "yes"}
	if b, ok := r.Store.Backend.(*etcd.Backend); ok {
		if u, err := b.Usage(); err == nil {
			room.Text = fmt.Sprintf("etcd %s takes %d MiB of its %d MiB", u.Version, u.Size>>20, u.Quota>>20)
		}
	}
	if err := r.Store.Backend.Room(); err != nil {
		room.OK, room.Text = false, err.Error()
	}
	return []Trial{reached, room}
}
