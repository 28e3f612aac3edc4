package ssh

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"slices"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/weirfabric/weir/drivers"
)

// hostKeys decides whether a server is the one that the operator has recorded.
type hostKeys struct {
	endpoint   drivers.Endpoint
	known      ssh.HostKeyCallback // nil: any key is accepted
	algorithms []string            // in order of preference
	refused    error               // why the key was not accepted
}

func readHostKeys(e drivers.Endpoint) (*hostKeys, error) {
	h := &hostKeys{endpoint: e, algorithms: algorithms(e).HostKeys}
	if e.Insecure.AnyHostKey {
		return h, nil
	}
	if e.HostKeys == "" {
		return nil, h.error(errors.New("no file of known host keys is named"), "set hostKeys to a known_hosts file that has this device; "+h.record())
	}
	_, err := drivers.ReadFile(e.HostKeys, drivers.MaxKeyFile) // the library reads whatever is there
	var known ssh.HostKeyCallback
	if err == nil {
		known, err = knownhosts.New(e.HostKeys)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, h.error(fmt.Errorf("there is no file %s", e.HostKeys), h.record())
	}
	if err != nil {
		return nil, h.error(err, "mend "+e.HostKeys)
	}
	h.known = known
	h.algorithms = preferred(known, e.SSH, h.algorithms)
	return h, nil
}

func (h *hostKeys) error(err error, hint string) error {
	return &drivers.AuthError{Device: h.endpoint.Device, Err: err, Hint: hint}
}

// record says how to record the device's key.
func (h *hostKeys) record() string {
	host, port, err := net.SplitHostPort(h.endpoint.SSH)
	if err != nil {
		host, port = h.endpoint.SSH, "22"
	}
	file := h.endpoint.HostKeys
	if file == "" {
		file = "known_hosts"
	}
	return fmt.Sprintf("record the key with `ssh-keyscan -p %s %s >> %s` after comparing its fingerprint with the one that the device shows on its console", port, host, file)
}

// verify is called by the handshake. What it decides is kept, since the handshake hands on nothing but text.
func (h *hostKeys) verify(address string, remote net.Addr, key ssh.PublicKey) error {
	if h.known == nil {
		return nil
	}
	err := h.known(address, remote, key)
	if err == nil {
		return nil
	}
	seen := fmt.Sprintf("%s %s", key.Type(), ssh.FingerprintSHA256(key))
	var mismatch *knownhosts.KeyError
	switch {
	case errors.As(err, &mismatch) && len(mismatch.Want) == 0:
		h.refused = h.error(fmt.Errorf("the host key (%s) is not known", seen), h.record())
	case errors.As(err, &mismatch):
		want := mismatch.Want[0]
		h.refused = h.error(fmt.Errorf("the host key (%s) is not the recorded one", seen),
			fmt.Sprintf("someone may be in between; if the device was replaced or reinstalled, take line %d out of %s and %s", want.Line, want.Filename, h.record()))
	default:
		h.refused = h.error(err, "ask who revoked the key")
	}
	return h.refused
}

// preferred puts the algorithms of the keys on record first, so that a server with several keys shows one that can be
// compared.
func preferred(known ssh.HostKeyCallback, address string, all []string) []string {
	var asked *knownhosts.KeyError
	if !errors.As(known(address, &net.TCPAddr{}, unknownKey{}), &asked) || len(asked.Want) == 0 {
		return all
	}
	var algorithms []string
	for _, k := range asked.Want {
		if t := k.Key.Type(); t == ssh.KeyAlgoRSA {
			algorithms = append(algorithms, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		} else if slices.Contains(all, t) {
			algorithms = append(algorithms, t)
		}
	}
	for _, a := range all {
		if !slices.Contains(algorithms, a) {
			algorithms = append(algorithms, a)
		}
	}
	return algorithms
}

// unknownKey is on nobody's record.
type unknownKey struct{}

func (unknownKey) Type() string                        { return "none" }
func (unknownKey) Marshal() []byte                     { return nil }
func (unknownKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }
