package sim

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// lifetime of the lab's certificates: longer than any lab runs.
const lifetime = 10 * 24 * time.Hour

// Authority is the trust of laboratories: a certificate authority, the certificates that it has issued, and an SSH host key
// that all devices share. Labs that follow each other may share one, since keys take long to make. It may be used from many
// goroutines at once.
type Authority struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	pool    *x509.CertPool
	hostKey ssh.Signer

	mu     sync.Mutex
	issued map[string]tls.Certificate // by name and usage
}

// NewAuthority makes the keys. What it issues is valid from the time that a testing/synctest bubble begins with.
func NewAuthority() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	template := certificate("weir lab authority", big.NewInt(1))
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority: %w", err)
	}
	a := &Authority{key: key, pool: x509.NewCertPool(), issued: map[string]tls.Certificate{}}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("read back the authority: %w", err)
	}
	a.pool.AddCert(a.cert)
	_, hostKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the SSH host key: %w", err)
	}
	if a.hostKey, err = ssh.NewSignerFromKey(hostKey); err != nil {
		return nil, fmt.Errorf("use the SSH host key: %w", err)
	}
	return a, nil
}

// write puts ca.pem, client.pem and client-key.pem into a folder, so that clients can be pointed at them.
func (a *Authority) write(dir, user string) error {
	client, err := a.issue(user, x509.ExtKeyUsageClientAuth)
	if err != nil {
		return err
	}
	clientKey, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
	if err != nil {
		return fmt.Errorf("write the client's key: %w", err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem":         {Type: "CERTIFICATE", Bytes: a.cert.Raw},
		"client.pem":     {Type: "CERTIFICATE", Bytes: client.Certificate[0]},
		"client-key.pem": {Type: "PRIVATE KEY", Bytes: clientKey},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return fmt.Errorf("write the lab's certificates: %w", err)
		}
	}
	return nil
}

// server is the TLS configuration of one device's gNMI server. A client certificate is verified when one is shown.
func (a *Authority) server(device string) (*tls.Config, error) {
	cert, err := a.issue(device, x509.ExtKeyUsageServerAuth)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{cert},
		ClientCAs:    a.pool,
		ClientAuth:   tls.VerifyClientCertIfGiven,
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2"},
	}, nil
}

// issue signs a certificate for a name, also on loopback, or finds the one that it has signed before.
func (a *Authority) issue(name string, usage x509.ExtKeyUsage) (tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := fmt.Sprint(usage, name)
	if cert, ok := a.issued[id]; ok {
		return cert, nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the key of %s: %w", name, err)
	}
	template := certificate(name, big.NewInt(int64(len(a.issued))+2))
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	template.DNSNames = []string{name, "localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("sign the certificate of %s: %w", name, err)
	}
	cert := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	a.issued[id] = cert
	return cert, nil
}

// certificate is the template of one. Its time begins before that of a testing/synctest bubble, midnight UTC of 2000-01-01.
func certificate(name string, serial *big.Int) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    time.Date(1999, time.December, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Now().Add(lifetime),
	}
}
