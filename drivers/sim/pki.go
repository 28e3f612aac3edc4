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
	"time"

	"golang.org/x/crypto/ssh"
)

// lifetime of the lab's certificates: longer than any lab runs.
const lifetime = 10 * 24 * time.Hour

// pki is the trust of one lab: a certificate authority, a client certificate and an SSH host key, made at its start and
// written to a folder so that clients can be pointed at them.
type pki struct {
	dir     string
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	hostKey ssh.Signer
}

// newPKI makes the authority and writes ca.pem, client.pem and client-key.pem into dir.
func newPKI(dir, user string) (*pki, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the authority's key: %w", err)
	}
	template := certificate("weir lab authority", 1)
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign the authority: %w", err)
	}
	p := &pki{dir: dir, key: key}
	if p.cert, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("read back the authority: %w", err)
	}
	_, hostKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the SSH host key: %w", err)
	}
	if p.hostKey, err = ssh.NewSignerFromKey(hostKey); err != nil {
		return nil, fmt.Errorf("use the SSH host key: %w", err)
	}
	client, err := p.issue(user, 2, x509.ExtKeyUsageClientAuth)
	if err != nil {
		return nil, err
	}
	clientKey, err := x509.MarshalPKCS8PrivateKey(client.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("write the client's key: %w", err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem":         {Type: "CERTIFICATE", Bytes: der},
		"client.pem":     {Type: "CERTIFICATE", Bytes: client.Certificate[0]},
		"client-key.pem": {Type: "PRIVATE KEY", Bytes: clientKey},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return nil, fmt.Errorf("write the lab's certificates: %w", err)
		}
	}
	return p, nil
}

// server is the TLS configuration of one device's gNMI server. A client certificate is verified when one is shown.
func (p *pki) server(device string, serial int64) (*tls.Config, error) {
	cert, err := p.issue(device, serial, x509.ExtKeyUsageServerAuth)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(p.cert)
	return &tls.Config{
		Certificates: []tls.Certificate{cert},
		ClientCAs:    pool,
		ClientAuth:   tls.VerifyClientCertIfGiven,
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2"},
	}, nil
}

// issue signs a certificate for a name on loopback.
func (p *pki) issue(name string, serial int64, usage x509.ExtKeyUsage) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make the key of %s: %w", name, err)
	}
	template := certificate(name, serial)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{usage}
	template.DNSNames = []string{name, "localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	der, err := x509.CreateCertificate(rand.Reader, template, p.cert, key.Public(), p.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("sign the certificate of %s: %w", name, err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func certificate(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(lifetime),
	}
}
