// SPDX-License-Identifier: Apache-2.0

// Package controllers issues certificates: kinds Issuer and Certificate of issuer.dormouse.dev/v1alpha1.
package controllers

import (
	"time"

	"dormouse.dev/guests/issuer/pki"
	"dormouse.dev/sdk/go/meta"
	"dormouse.dev/sdk/go/operator"
)

const apiVersion = "issuer.dormouse.dev/v1alpha1"

// Ready is the condition of both kinds.
const Ready = "Ready"

// Issuer signs certificates of its namespace: each with its own key, or with an authority's.
type Issuer struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Spec            IssuerSpec   `json:"spec"`
	Status          IssuerStatus `json:"status,omitzero"`
}

type IssuerSpec struct {
	SelfSigned *struct{} `json:"selfSigned,omitempty"`
	CA         *CASource `json:"ca,omitempty"`
}

// CASource names a Secret with tls.crt and tls.key of an authority; a Certificate with isCA makes one.
type CASource struct {
	SecretName string `json:"secretName"`
}

type IssuerStatus struct {
	Conditions         []meta.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64            `json:"observedGeneration,omitempty"`
	// Authority is the serial number of the certificate that signs; a new one wakes the certificates.
	Authority string `json:"authority,omitempty"`
}

// Certificate is kept valid in a Secret.
type Certificate struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Spec            CertificateSpec   `json:"spec"`
	Status          CertificateStatus `json:"status,omitzero"`
}

type CertificateSpec struct {
	SecretName  string     `json:"secretName"`
	IssuerRef   IssuerRef  `json:"issuerRef"`
	CommonName  string     `json:"commonName,omitempty"`
	DNSNames    []string   `json:"dnsNames,omitempty"`
	IPAddresses []string   `json:"ipAddresses,omitempty"`
	IsCA        bool       `json:"isCA,omitempty"`
	Duration    string     `json:"duration,omitempty"`
	RenewBefore string     `json:"renewBefore,omitempty"`
	Usages      []string   `json:"usages,omitempty"`
	PrivateKey  PrivateKey `json:"privateKey,omitzero"`
}

type IssuerRef struct {
	Name string `json:"name"`
}

// PrivateKey says how keys are made. RotationPolicy Always (the default) makes one with each certificate.
type PrivateKey struct {
	Algorithm      string `json:"algorithm,omitempty"`
	Size           int    `json:"size,omitempty"`
	RotationPolicy string `json:"rotationPolicy,omitempty"`
}

type CertificateStatus struct {
	Conditions         []meta.Condition `json:"conditions,omitempty"`
	ObservedGeneration int64            `json:"observedGeneration,omitempty"`
	SecretName         string           `json:"secretName,omitempty"`
	NotBefore          *time.Time       `json:"notBefore,omitempty"`
	NotAfter           *time.Time       `json:"notAfter,omitempty"`
	RenewalTime        *time.Time       `json:"renewalTime,omitempty"`
	SerialNumber       string           `json:"serialNumber,omitempty"`
	Revision           int64            `json:"revision,omitempty"`
}

// Secret, as far as it is needed here.
type Secret struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Type            string            `json:"type,omitempty"`
	Data            map[string][]byte `json:"data,omitempty"`
}

const secretTypeTLS = "kubernetes.io/tls"

func init() {
	operator.RegisterKind(&Issuer{}, operator.Kind{APIVersion: apiVersion, Kind: "Issuer", Resource: "issuers"})
	operator.RegisterKind(&Certificate{}, operator.Kind{APIVersion: apiVersion, Kind: "Certificate", Resource: "certificates"})
	operator.RegisterKind(&Secret{}, operator.Kind{APIVersion: "v1", Kind: "Secret", Resource: "secrets"})
}

// request turns a spec into what pki understands, checked.
func (s *CertificateSpec) request() (*pki.Request, error) {
	r := &pki.Request{CommonName: s.CommonName, DNSNames: s.DNSNames, IPAddresses: s.IPAddresses, IsCA: s.IsCA,
		Usages: s.Usages, Algorithm: s.PrivateKey.Algorithm, Size: s.PrivateKey.Size}
	for _, d := range []struct {
		text string
		to   *time.Duration
	}{{s.Duration, &r.Duration}, {s.RenewBefore, &r.RenewBefore}} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(d.text)
		if err != nil {
			return nil, err
		}
		*d.to = v
	}
	return r, r.Check()
}

// pair reads the certificate in a Secret.
func (s *Secret) pair() (*pki.Pair, error) {
	return pki.Parse(s.Data["tls.crt"], s.Data["tls.key"], s.Data["ca.crt"])
}
