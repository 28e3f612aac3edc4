package etcdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Files are the names of PEM files: of an authority, and of the certificates of a server at 127.0.0.1 and a client.
type Files struct{ CA, Cert, Key, ClientCert, ClientKey string }

func newFiles(t *testing.T) Files {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, body []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: body}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	var ca *x509.Certificate
	var caKey *ecdsa.PrivateKey
	issue := func(name string, serial int64) (certFile, keyFile string) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		want := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
			BasicConstraintsValid: true, IsCA: ca == nil, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
		by, byKey := ca, caKey
		if by == nil {
			by, byKey = want, key
		}
		body, err := x509.CreateCertificate(rand.Reader, want, by, &key.PublicKey, byKey)
		if err != nil {
			t.Fatal(err)
		}
		if ca == nil {
			if ca, err = x509.ParseCertificate(body); err != nil {
				t.Fatal(err)
			}
			caKey = key
		}
		private, err := x509.MarshalECPrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return write(name+".pem", "CERTIFICATE", body), write(name+"-key.pem", "EC PRIVATE KEY", private)
	}
	var f Files
	f.CA, _ = issue("ca", 1)
	f.Cert, f.Key = issue("server", 2)
	f.ClientCert, f.ClientKey = issue("client", 3)
	return f
}
