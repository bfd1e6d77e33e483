import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Certificate of localhost, valid from 2020 to 2119, made by `openssl ca -selfsign` for tests. */
export const selfSigned = `-----BEGIN CERTIFICATE-----
MIIBYTCCAQegAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjExOTEyMzEyMzU5NTlaMBQxEjAQBgNVBAMM
CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABB8Zt7vtDAgd0QCy
nhGsWiJ9kD+MS78VqHuDKQ1v6VTCCgsFRRYdafe1DrVSzhiz+H2i4Pq5xqVrQ/E6
T0D5yQ6jSDBGMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAPBgNVHRMBAf8EBTADAQH/
MB0GA1UdDgQWBBTxG8Alg7KpxTOzb+fnJ2cE22uz8jAKBggqhkjOPQQDAgNIADBF
AiEAn/S/xaI1uVD6hFIvVJEa2jru6HN+4mDt7kJIz3OprOcCIB8csjlijbuChCve
gyZPkdQ+yWc9Df98nPCQujVJJt2i
-----END CERTIFICATE-----
`;

const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzAN8yDKNQROhnG+S
JYh8v3X7/yyNi08Dh6UOBzaRGD2hRANCAAQfGbe77QwIHdEAsp4RrFoifZA/jEu/
Fah7gykNb+lUwgoLBUUWHWn3tQ61Us4Ys/h9ouD6ucala0PxOk9A+ckO
-----END PRIVATE KEY-----
`;

/** Starts a server that opens each session with TLS as PostgreSQL does, with a self-signed certificate. */
export async function startSelfSigned() {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { isServer: true, key, cert: selfSigned }).on('error', () => undefined);
    });
  })
    .listen(0, '127.0.0.1')
    .unref();
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
