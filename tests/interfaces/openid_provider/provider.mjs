// A real OpenID provider on loopback: npm's oidc-provider, with its own forms to sign in and to consent.
// The arguments are the redirect address and the algorithm of the ID tokens. The program prints the issuer.
import { createServer } from "node:http";

import * as jose from "jose";
import Provider from "oidc-provider";

const [backTo, algorithm] = process.argv.slice(2);
const { privateKey } = await jose.generateKeyPair(algorithm, { extractable: true });
const key = { ...(await jose.exportJWK(privateKey)), kid: "first", use: "sig", alg: algorithm };

const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "wmsd",
      client_secret: "a secret / of + the client",
      redirect_uris: [backTo],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      id_token_signed_response_alg: algorithm,
    },
  ],
  enabledJWA: { idTokenSigningAlgValues: [algorithm] },
  jwks: { keys: [key] },
  cookies: { keys: ["of a test"] },
  pkce: { required: () => true },
  claims: { openid: ["sub", "groups"], email: ["email", "email_verified"], profile: ["name"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.com`,
      email_verified: id !== "unverified",
      name: `Name of ${id}`,
      groups: ["everybody", `of-${id}`],
    }),
  }),
});
server.on("request", provider.callback());
console.log(issuer);
