"""The HTTP server: one handler for all routes, and one place for errors, headers and the request log."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from wmsd.base.client_addresses import Network, networks
from wmsd.base.machine.shortages import is_shortage
from wmsd.base.problems import Problem
from wmsd.base.strict_json import printable
from wmsd.contract.near_paths import NOWHERE, NearPaths
from wmsd.contract.operation import Operation
from wmsd.contract.route import Route, method_not_allowed
from wmsd.dispatch import preconditions
from wmsd.dispatch.call import Call, Reply, refusal
from wmsd.dispatch.limits.costs import Costs
from wmsd.dispatch.prepared_answers import Prepared
from wmsd.dispatch.refusals import broken_off
from wmsd.dispatch.request_measures import Counted
from wmsd.installation.open_installation import Installation
from wmsd.interfaces.http import connections, failure_page, reached_origin, request_history, requests
from wmsd.interfaces.http.aiohttp_web import web
from wmsd.interfaces.http.answer_heads import BEGUN, complete_head, note_begun
from wmsd.interfaces.http.compression import LONGEST_AT_ONCE
from wmsd.interfaces.http.cross_origin import answer_preflight, options
from wmsd.interfaces.http.failure_page import reads_pages
from wmsd.interfaces.http.listener import ANSWERING_ALL, REQUEST_HANDLER, MakeHandler
from wmsd.interfaces.http.loop_time import LoopTime
from wmsd.interfaces.http.malformed_requests import SAFE_METHODS, RequestHandler, answering_all
from wmsd.interfaces.http.pieces import answer_in_pieces
from wmsd.interfaces.http.reached_origin import Front
from wmsd.interfaces.http.ready_answers import Answer
from wmsd.interfaces.http.request_log import CALL, REQUEST_ID, RequestLog
from wmsd.interfaces.http.request_turns import NOBODY, Turns
from wmsd.interfaces.http.requests import header_value, is_of_the_api, is_path_of_the_api
from wmsd.interfaces.http.route_table import Handler, RouteTable, parts_of
from wmsd.server.jobs import Jobs

LOG = logging.getLogger("wmsd.request")
InForm = Callable[[web.Request, Reply], Reply]
INSTALLATION: Final = web.AppKey("installation", Installation)
JOBS: Final = web.AppKey("jobs", Jobs)
FAILED: Final = 500
REQUEST_LOG: Final = web.AppKey("request_log", RequestLog)
NEAR_PATHS: Final = web.AppKey("near_paths", NearPaths)
ROUTE_TABLE: Final = web.AppKey("route_table", RouteTable)
TURNS: Final = web.AppKey("turns", Turns)
ANY: Final = "/{anything:(?s:.*)}"
OUTSIDE_OF_THE_API: Final = r"/{anything:(?!(?:api|openapi\.json)(?:/|$))(?s:.*)}"


def create_app(installation: Installation, jobs: Jobs, routes: Iterable[Route]) -> web.Application:
    """Create the application with these routes. For a known path with a wrong method, the answer is an error
    (405).

    Each handler is wrapped separately, because aiohttp's middlewares are too slow.
    """
    front = front_of(installation)
    log = RequestLog(installation, front.proxies)
    app = web.Application()
    app.on_response_prepare.append(partial(note_begun, installation))
    app[INSTALLATION], app[JOBS], app[REQUEST_LOG], app[TURNS] = installation, jobs, log, Turns()
    table = app[ROUTE_TABLE] = RouteTable(note_expectation)
    app.router.register_resource(table)
    app[NEAR_PATHS] = NearPaths(
        lambda: filter(is_path_of_the_api, (each.canonical for each in table.router.resources()))
    )
    handler: MakeHandler = partial(RequestHandler, installation, log, app=app, **log.for_aiohttp())
    app[REQUEST_HANDLER] = handler
    app[ANSWERING_ALL] = lambda handle: answering_all(installation, log, table, handle)
    app.on_cleanup.append(log.close)
    methods: dict[str, list[str]] = {}
    for route in routes:
        methods.setdefault(route.path, []).append(route.method)
        add_route(app, route.method, route.path, partial(_handle, installation, front, route))
    for path, allowed in methods.items():
        refuse_other_methods(app, path, allowed)
    return app


def add_route(app: web.Application, method: str, path: str, handler: Handler) -> None:
    """Add a route. With GET, also add the route for HEAD. Each answer gets a request id, and each request is
    logged.
    """
    installation = app[INSTALLATION]
    answer = partial(
        answer_in_turn, installation, app[REQUEST_LOG], app[TURNS], installation.measures.of(path), handler
    )
    for each in with_head([method]):
        if ROUTE_TABLE in app:
            app[ROUTE_TABLE].add(each, path, answer)
        else:
            app.router.add_route(each, path, answer, expect_handler=note_expectation)


def with_head(methods: Iterable[str]) -> list[str]:
    """Return the methods, with HEAD after each GET (RFC 9110, section 9.3.2)."""
    return [each for method in methods for each in (("GET", "HEAD") if method == "GET" else (method,))]


def add_open(app: web.Application, method: str, path: str, handler: Handler) -> None:
    """Add a route that needs no token and calls no operation. The rate limit counts its requests by address."""
    add_route(app, method, path, partial(_count, app[INSTALLATION], trusted_proxies(app[INSTALLATION]), handler))


async def _count(
    installation: Installation, trusted: Sequence[Network], handler: Handler, request: web.Request
) -> web.StreamResponse:
    installation.dispatcher.admission.count_visit("open", requests.client_address(request, trusted))
    return await handler(request)


async def note_expectation(request: web.Request) -> None:
    """Record that the client waits for "100 Continue". Ignore all other expectations, as RFC 9110 allows (section
    10.1.1).

    aiohttp calls this function for requests with the header Expect. aiohttp's own function asks for the body at
    once, and refuses other expectations. wmsd asks for the body only if it accepts the request.
    """
    connection = connections.of(request)
    if connection is not None and request.version >= (1, 1):
        connection.awaits_continue = request.headers["Expect"].lower() == "100-continue"


async def _handle(
    installation: Installation, front: Front, route: Route, request: web.Request
) -> web.StreamResponse:
    try:
        query = requests.query(request)
    except Problem as problem:
        return response(refusal(problem))
    call = call_of(request, front, route.operation)
    call.route_headers = route.headers
    call.path = {name: printable(value) for name, value in parts_of(request).items()}
    call.query = query
    if route.operation.body is not None:
        call.load_body = partial(requests.json_body, request, call, installation.dispatcher.bodies)
    call.takes_pieces = True
    reply = await installation.dispatcher.dispatch(call)
    if reply.pieces is not None:
        begin = partial(note_begun, installation, request)
        return await answer_in_pieces(request, reply, call, installation.dispatcher.work, begin)
    return response(reply)


def call_of(request: web.Request, front: Front, operation: Operation) -> Call:
    """Create the call of `operation` from the head of a request, without its query. Also store the call on the
    request, where the log reads it.
    """
    headers = request.headers
    address, passed = requests.client_and_hops(request, front.proxies)
    call = request[CALL] = Call(
        operation=operation,
        method="GET" if request.method == "HEAD" else request.method,
        target=request.path,
        address=address,
        request_id=request[REQUEST_ID],
        token=requests.bearer(header_value(headers, "Authorization")),
        company=header_value(headers, "X-Company-Id"),
        operator=header_value(headers, "X-Three-Pl-Id"),
        idempotency_key=header_value(headers, "Idempotency-Key"),
        if_match=header_value(headers, "If-Match"),
        if_none_match=header_value(headers, "If-None-Match"),
        origin=reached_origin.origin(request, front, passed),
    )
    return call


def trusted_proxies(installation: Installation) -> list[Network]:
    return networks(installation.settings.server.trusted_proxies)


def front_of(installation: Installation) -> Front:
    return Front(trusted_proxies(installation), installation.settings.server.public_url)


def unless_known(request: web.Request, reply: Reply) -> Reply:
    """Return `reply`, or a 304 reply if the client already has the same answer."""
    return preconditions.unchanged(header_value(request.headers, "If-None-Match"), reply) or reply


async def answer_prepared(prepared: Prepared, request: web.Request) -> web.Response:
    return response(unless_known(request, await prepared.reply()))


def response(reply: Reply) -> web.Response:
    if reply.status == 204:
        return web.Response(status=204, headers=reply.headers)
    if reply.status != 304:
        reply.headers.setdefault("Content-Type", "application/json")
    return Answer(status=reply.status, body=reply.body, headers=reply.headers, zlib_executor_size=LONGEST_AT_ONCE)


async def answer_in_turn(
    installation: Installation,
    log: RequestLog,
    turns: Turns,
    counted: Counted,
    handler: Handler,
    request: web.Request,
) -> web.StreamResponse:
    """Answer a request with `handler`. Add the request id, convert exceptions, and count and log the request."""
    request[REQUEST_ID] = installation.ids.unique()
    started = time.perf_counter()
    connection = connections.of(request)
    if connection is not None:
        connection.begin()
        connection.may_finish = is_of_the_api(request)
    occupancy = LoopTime(_in_turn(turns, started, installation.dispatcher.costs, handler, request))
    try:
        answer = await occupancy
    except Problem as problem:
        answer = _refusal(request, problem)
    except web.HTTPException as error:
        answer = _http_error(request, error)
    except ConnectionResetError:
        answer = web.Response(status=400)  # the client has left
    except Exception as error:
        answer = _failure_answer(request, failure(log, request, error))
    finally:
        call = request.get(CALL)
        if connection is not None:
            tenant = None if call is None else call.tenant
            connection.end(None if tenant is None else tenant.id, request.content.is_eof())
    status, begun = answer.status, request.get(BEGUN)
    if begun is None:
        complete_head(installation.settings, request, answer)
    elif begun is answer:
        connections.reset_when_closed(request, is_on=False)
    else:
        _break_off(request, status)
        answer = begun
    if connection is not None and connection.ends_with(request):
        answer.force_close()
    seconds = time.perf_counter() - started
    counted.note(status, seconds)
    log.write(request, call, status, seconds)
    if call is not None:
        _charge(installation.dispatcher.costs, request, call, occupancy.seconds, status)
        request_history.keep(installation, request, call, answer, seconds)
    return answer


async def _in_turn(
    turns: Turns, now: float, costs: Costs, handler: Handler, request: web.Request
) -> web.StreamResponse:
    if turns.is_long(now):
        await turns.next(_cost_of_company(costs, request))
    return await handler(request)


def _cost_of_company(costs: Costs, request: web.Request) -> float:
    """Return the recent load of the company that the request names, in seconds. Return NOBODY for an unknown
    company.

    The token is not checked yet. A company without recent requests also counts as unknown. So a request that names
    an invented company starts last.
    """
    named = request.headers.get("X-Company-Id") if is_of_the_api(request) else None
    weight = costs.weight("company", named or parts_of(request).get("company", ""))
    return NOBODY if weight is None else weight


def _charge(costs: Costs, request: web.Request, call: Call, seconds: float, status: int) -> None:
    """Charge the cost of a request to its user and its company, if they are known."""
    if call.caller is None:
        return
    sent = 0 if request.method in SAFE_METHODS else request.content_length or call.body_bytes
    costs.note(call.tenant.id if call.tenant else 0, call.caller.actor.user_id or 0, seconds, sent, status)


def _break_off(request: web.Request, status: int) -> None:
    """Cut the connection, because an error has interrupted the answer. `status` is the status of this error, and
    is only logged.
    """
    if status != FAILED:  # the log already has the error of a 500
        LOG.warning(
            "the answer to %s %s was interrupted by an error with the status %d",
            request.method,
            request.path,
            status,
            extra={"request_id": request[REQUEST_ID]},
        )
    if request.transport is not None:
        request.transport.abort()


def _failure_answer(request: web.Request, problem: Problem) -> web.Response:
    if reads_pages(request) and not is_of_the_api(request):
        return failure_page.made(problem, request[REQUEST_ID])
    return response(refusal(problem))


def failure(log: RequestLog, request: web.Request, error: Exception) -> Problem:
    """Log an unexpected error, and return the error for the client."""
    if is_shortage(error):
        log.shortages.failed("requests are interrupted", error)
        return broken_off(request.method not in SAFE_METHODS)
    LOG.error(
        "%s %s failed", request.method, request.path, exc_info=error, extra={"request_id": request[REQUEST_ID]}
    )
    return Problem("SERVER_ERROR", "The server had an internal error. Look for the request id in its log.")


def refuse_other_methods(
    app: web.Application, path: str, allowed: list[str], in_form: InForm = lambda _, reply: reply
) -> None:
    """Add a route for `path` that refuses all methods except those in `allowed`.

    `in_form` converts a refusal to the format that the clients of the path expect.
    """
    possible = sorted({*with_head(allowed), "OPTIONS"})
    installation, refuse = app[INSTALLATION], partial(_refuse_method, possible, in_form)
    counted = partial(_count, installation, trusted_proxies(installation), refuse)
    origins = installation.settings.server.allow_origins
    add_route(app, "*", path, partial(answer_preflight, origins, possible, counted))


async def _refuse_method(possible: list[str], in_form: InForm, request: web.Request) -> web.Response:
    if request.method == "OPTIONS":
        return options(request.app[INSTALLATION].settings.server.allow_origins, request, possible)
    return response(in_form(request, refusal(method_not_allowed(request.method, possible))))


async def refuse_address(request: web.Request) -> web.StreamResponse:
    return address_refused(request)


def address_refused(request: web.Request) -> web.StreamResponse:
    """Return the error for an unknown path. If a path of the API is similar, the error names it.

    If no path is similar, and the unknown path is outside of the API, raise HTTPNotFound.
    """
    sentence = request.app[NEAR_PATHS].sentence(request.rel_url.raw_path)
    if sentence == NOWHERE and not is_of_the_api(request):
        raise web.HTTPNotFound
    return _refusal(request, Problem("NOT_FOUND", sentence))


def _refusal(request: web.Request, problem: Problem) -> web.StreamResponse:
    """Return the error for the client. For a path of the API, it has the format of the API, otherwise it is plain
    text.
    """
    if is_of_the_api(request):
        return response(refusal(problem))
    return web.Response(status=problem.status, text=f"{problem.message}\n", headers=problem.headers)


def _http_error(request: web.Request, error: web.HTTPException) -> web.StreamResponse:
    kept = {"Location": error.headers["Location"]} if "Location" in error.headers else {}
    if not is_of_the_api(request):
        return web.Response(status=error.status, text=f"{error.reason}.\n", headers=kept)
    code = "VALIDATION_FAILED" if error.status < 500 else "SERVER_ERROR"
    return response(refusal(Problem(code, f"{error.reason}.", status=error.status)))
