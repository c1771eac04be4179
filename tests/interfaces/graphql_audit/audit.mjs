// Checks a server against the specification of GraphQL over HTTP, by the audits of the reference implementation, and
// prints the result of each audit as JSON:
//   node audit.mjs URL TOKEN COMPANY
import { auditServer } from 'graphql-http'

const [url, token, company] = process.argv.slice(2)

const results = await auditServer({
  url,
  fetchFn: (address, options) =>
    fetch(address, {
      ...options,
      headers: { ...options?.headers, Authorization: `Bearer ${token}`, 'X-Company-Id': company },
    }),
})

console.log(JSON.stringify(results.map(({ id, name, status, reason }) => ({ id, name, status, reason }))))
