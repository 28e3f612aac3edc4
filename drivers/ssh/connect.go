package ssh

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/weirfabric/weir/drivers"
)

// logIn dials and logs in. The context ends it at any point, the handshake included.
func (l *link) logIn(ctx context.Context) (*ssh.Client, error) {
	e := l.endpoint
	ctx, cancel := context.WithTimeout(ctx, first(e.Timeout, dialTimeout))
	defer cancel()
	keys, err := readHostKeys(e)
	if err != nil {
		return nil, err
	}
	auth, err := methods(e)
	if err != nil {
		return nil, err
	}
	raw, err := l.dial(ctx, "tcp", e.SSH)
	if err != nil {
		return nil, &drivers.UnreachableError{Device: e.Device, Address: e.SSH, Err: err}
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	use := algorithms(e)
	conn, channels, requests, err := ssh.NewClientConn(raw, e.SSH, &ssh.ClientConfig{
		Config:            ssh.Config{KeyExchanges: use.KeyExchanges, Ciphers: use.Ciphers, MACs: use.MACs},
		User:              e.User,
		Auth:              auth,
		HostKeyCallback:   keys.verify,
		HostKeyAlgorithms: keys.algorithms,
	})
	if err != nil {
		raw.Close()
		return nil, connectError(ctx, e, keys, err)
	}
	return ssh.NewClient(conn, channels, requests), nil
}

// algorithms are those that weir takes: what the library calls secure, and what it calls insecure (SHA-1 in key exchange and
// host keys, CBC, RC4) only where the operator wrote sshAlgorithms: any. HMAC-SHA1 is not broken, and is among the first.
func algorithms(e drivers.Endpoint) ssh.Algorithms {
	use := ssh.SupportedAlgorithms()
	if !e.Insecure.OldSSH {
		return use
	}
	old := ssh.InsecureAlgorithms()
	return ssh.Algorithms{
		KeyExchanges: slices.Concat(use.KeyExchanges, old.KeyExchanges), Ciphers: slices.Concat(use.Ciphers, old.Ciphers),
		MACs: slices.Concat(use.MACs, old.MACs), HostKeys: slices.Concat(use.HostKeys, old.HostKeys),
	}
}

func connectError(ctx context.Context, e drivers.Endpoint, keys *hostKeys, err error) error {
	var disagree *ssh.AlgorithmNegotiationError
	switch {
	case keys.refused != nil:
		return keys.refused
	case errors.As(err, &disagree):
		offers := e.Quote(strings.Join(disagree.RequestedAlgorithms, ", "))
		return &drivers.AuthError{Device: e.Device, Err: fmt.Errorf("the server has no algorithm for the %s that is not broken: it offers %s", disagree.What, offers),
			Hint: "update the device or switch better ones on there; where neither can be done, management.sshAlgorithms: any takes broken ones too"}
	case ctx.Err() != nil:
		return &drivers.UnreachableError{Device: e.Device, Address: e.SSH, Err: ctx.Err()}
	case strings.Contains(err.Error(), "unable to authenticate"), errors.Is(err, errRefused), errors.Is(err, errQuestion):
		return &drivers.AuthError{Device: e.Device, Err: fmt.Errorf("login as %s: %s", e.User, e.Quote(err.Error())), Hint: "check user, and password or key, of the device"}
	}
	return &drivers.UnreachableError{Device: e.Device, Address: e.SSH, Err: err}
}

var (
	errRefused  = errors.New("the password was refused")
	errQuestion = errors.New("the server asks something that is not a password")
	asksSecret  = regexp.MustCompile(`(?i)pass(word|code|phrase)[^:]*:?\s*$`)
)

// methods are the key, then the password. A password is given once, to whichever method asks first: a second refusal of
// the same password brings an account nearer to its lock and nothing else.
func methods(e drivers.Endpoint) ([]ssh.AuthMethod, error) {
	var all []ssh.AuthMethod
	if e.Key != "" {
		signer, err := ssh.ParsePrivateKey([]byte(e.Key))
		if err != nil {
			hint := "give a key in PEM or OpenSSH form"
			var locked *ssh.PassphraseMissingError
			if errors.As(err, &locked) {
				hint = "give a key without a passphrase, from a place that protects it"
			}
			return nil, &drivers.AuthError{Device: e.Device, Err: fmt.Errorf("read the private key: %w", err), Hint: hint}
		}
		all = append(all, ssh.PublicKeys(signer))
	}
	if e.Password == "" {
		return all, nil
	}
	given := false
	give := func() (string, error) {
		if given {
			return "", errRefused
		}
		given = true
		return string(e.Password), nil
	}
	interactive := func(_, _ string, questions []string, echo []bool) ([]string, error) {
		answers := make([]string, len(questions))
		for i, q := range questions {
			if echo[i] || !asksSecret.MatchString(q) {
				return nil, fmt.Errorf("%w: %q", errQuestion, q)
			}
			var err error
			if answers[i], err = give(); err != nil {
				return nil, err
			}
		}
		return answers, nil
	}
	return append(all, ssh.PasswordCallback(give), ssh.KeyboardInteractive(interactive)), nil
}
