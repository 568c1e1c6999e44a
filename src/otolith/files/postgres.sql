-- A team's homes in PostgreSQL 16 or later: documents by space and path. Installed by `otolith admin init`.
--
-- Who may see what is decided here and nowhere else. A key is exchanged for a pass (`enter`): key, principal,
-- spaces that may be read and written, expiry, sealed with a secret that never leaves the database. Each call
-- brings the pass; row-level security, forced, shows only rows of the pass's spaces, also to raw SQL of the
-- same role. Numbers that would tell of other spaces (transactions, sequences) are never given out.
create schema otolith;

create table otolith.about (version integer not null, made timestamptz not null default now(),
    days integer not null default 30,  -- that former versions are kept
    secret bytea not null);
insert into otolith.about (version, secret)
    values (1, sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')));

create table otolith.spaces (
    space integer generated always as identity primary key,
    name text collate "C" not null unique check (name ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    kind text not null check (kind in ('private', 'project', 'team')),
    floor xid8 not null default '0',  -- changes before this one are no longer listed
    made timestamptz not null default now());
create table otolith.principals (
    principal integer generated always as identity primary key,
    name text collate "C" not null unique check (name ~ '^[A-Za-z0-9][A-Za-z0-9_.@-]{0,62}$'),
    kind text not null check (kind in ('person', 'agent', 'service')),
    behalf integer references otolith.principals,  -- an agent acts for a person and may do no more than they
    made timestamptz not null default now());
create table otolith.members (
    space integer not null references otolith.spaces,
    principal integer not null references otolith.principals,
    role text not null check (role in ('reader', 'writer', 'owner')),
    primary key (space, principal));
create table otolith.keys (
    key integer generated always as identity primary key,
    principal integer not null references otolith.principals,
    digest bytea not null unique,
    scopes text[] not null default '{read,write}',
    made timestamptz not null default now(),
    expires timestamptz,
    used timestamptz,
    revoked timestamptz);
create table otolith.audit (
    at timestamptz not null default clock_timestamp(), verb text not null, what text not null, author text not null default session_user);

create table otolith.documents (
    space integer not null references otolith.spaces,
    path text collate "C" not null check (length(path) between 1 and 1000),
    id bigint not null,  -- survives moves
    stamp uuid not null,  -- another one with each write
    tx xid8 not null,
    digest bytea,
    size integer not null,
    written timestamptz not null,
    hands integer[] not null,  -- everybody who wrote it since it was made, the last one too
    body bytea,  -- null: it grows by lines, which stand in otolith.lines
    primary key (space, path));
create index on otolith.documents (space, tx);
create table otolith.lines (
    space integer not null,
    document bigint not null,
    n bigint generated always as identity,
    tx xid8 not null,
    hands integer[] not null,
    written timestamptz not null,
    body bytea not null,
    primary key (space, document, n));
create index on otolith.lines (space, tx);
-- What is no longer at its place: a hash of the path, so that a purge leaves no name
create table otolith.gone (space integer not null, name bytea not null, tx xid8 not null, at timestamptz not null default now());
create index on otolith.gone (space, tx);
-- Former versions, for so many days; a purge reaches them, too (`expunge`)
create table otolith.revisions (
    space integer not null, document bigint not null, path text collate "C" not null, hands integer[] not null,
    written timestamptz not null, replaced timestamptz not null default now(), body bytea not null);
create index on otolith.revisions (space, document);

-- Passes

create function otolith.seal(message text) returns text language sql stable security definer set search_path = pg_catalog as $$
    select encode(sha256(secret || sha256(secret || convert_to(message, 'UTF8'))), 'hex') from otolith.about $$;

create function otolith.enter(given text) returns text language plpgsql security definer set search_path = pg_catalog as $$
declare known otolith.keys; person integer; readable text; writable text; message text;
begin
    select * into known from otolith.keys k where k.digest = sha256(convert_to(coalesce(given, ''), 'UTF8'));
    if known.key is null or known.revoked is not null or known.expires <= clock_timestamp() then
        raise exception 'the key is not valid' using errcode = '28000';
    end if;
    if known.used is null or known.used < clock_timestamp() - interval '1 minute' then
        update otolith.keys set used = clock_timestamp() where key = known.key;
    end if;
    select coalesce(behalf, principal) into person from otolith.principals where principal = known.principal;
    select coalesce(string_agg(own.space::text, ',' order by own.space) filter (where 'read' = any (known.scopes)), ''),
           coalesce(string_agg(own.space::text, ',' order by own.space)
                    filter (where 'write' = any (known.scopes) and own.role <> 'reader' and theirs.role <> 'reader'
                            and (known.principal = person or s.kind <> 'team' or 'team:write' = any (known.scopes))), '')
        into readable, writable
        from otolith.members own join otolith.members theirs on theirs.space = own.space and theirs.principal = person
        join otolith.spaces s on s.space = own.space
        where own.principal = known.principal;
    message := format('%s;%s;%s;%s;%s', known.key, known.principal, readable, writable,
                      extract(epoch from clock_timestamp() + interval '1 hour')::bigint);
    return message || ';' || otolith.seal(message);
end $$;

create function otolith.opened() returns text[] language plpgsql stable security definer set search_path = pg_catalog as $$
declare parts text[] := string_to_array(current_setting('otolith.pass', true), ';');
begin
    if coalesce(array_length(parts, 1), 0) <> 6 or otolith.seal(array_to_string(parts[1:5], ';')) <> parts[6]
       or parts[5]::bigint < extract(epoch from clock_timestamp())
       or not exists (select from otolith.keys k where k.key = parts[1]::integer and k.revoked is null
                      and (k.expires is null or k.expires > clock_timestamp())) then
        return null;
    end if;
    return parts;
end $$;

create function otolith.readable() returns integer[] language sql stable security definer set search_path = pg_catalog as $$
    select coalesce(string_to_array(nullif((otolith.opened())[3], ''), ',')::integer[], '{}') $$;
create function otolith.writable() returns integer[] language sql stable security definer set search_path = pg_catalog as $$
    select coalesce(string_to_array(nullif((otolith.opened())[4], ''), ',')::integer[], '{}') $$;
create function otolith.principal() returns integer language sql stable security definer set search_path = pg_catalog as $$
    select (otolith.opened())[2]::integer $$;

create function otolith.permit(pass text, named text) returns integer language plpgsql security definer set search_path = pg_catalog as $$
declare here integer;
begin
    if (select rolsuper or rolbypassrls from pg_roles where rolname = session_user) then
        raise exception 'this login may see every space; log in as one that may not' using errcode = '28000';
    end if;
    perform set_config('otolith.pass', coalesce(pass, ''), true);
    if otolith.opened() is null then
        raise exception 'the pass is not valid' using errcode = '28000';
    end if;
    select space into here from otolith.spaces where name = named and space = any (otolith.readable());
    if here is null then
        raise exception 'there is no such space, or it is not open to you' using errcode = '3D000';
    end if;
    return here;
end $$;

-- What is built (pages, exports) is built by each person from what they trust: it lies at a place of their own

create function otolith.person() returns integer language sql stable security definer set search_path = pg_catalog as $$
    select coalesce(behalf, principal) from otolith.principals where principal = otolith.principal() $$;

create function otolith.placed(wanted text) returns text language sql stable as $$
    select case when wanted ~ '^(CORE\.md|REFLECTION\.md|GLOBAL_MEMORY\.(json|md)|_index\.json|_state\.json|_embeddings\.json|index/[^/]+\.json|topics/[^/]+/topic_memory\.(json|md)|archive/edited/.+)$'
                then format('own/%s/%s', otolith.person(), wanted) else wanted end $$;

-- What a row says of itself is written here, whoever writes the row; only the schema's own functions keep hands

create function otolith.stamped() returns trigger language plpgsql as $$
declare ours boolean := current_user = pg_get_userbyid((select relowner from pg_class where oid = tg_relid));
begin
    new.written := clock_timestamp();
    new.tx := pg_current_xact_id();
    if tg_table_name = 'lines' then
        if not ours or new.hands is null then new.hands := array[otolith.principal()]; end if;
        return new;
    end if;
    if new.path like 'own/%' and new.path not like format('own/%s/%%', otolith.person()) then
        raise insufficient_privilege;
    end if;
    new.stamp := gen_random_uuid();
    new.size := coalesce(length(new.body), 0);
    new.digest := sha256(new.body);
    if tg_op = 'INSERT' then
        new.id := ('x' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 15))::bit(60)::bigint;
        new.hands := array[otolith.principal()];
    else
        new.id := old.id;
        new.hands := old.hands;
        if new.body is distinct from old.body and new.body is not null and not otolith.principal() = any (old.hands) then
            new.hands := old.hands || otolith.principal();
        end if;
    end if;
    return new;
end $$;
create trigger stamped before insert or update on otolith.documents for each row execute function otolith.stamped();
create trigger stamped before insert on otolith.lines for each row execute function otolith.stamped();

create function otolith.kept() returns trigger language plpgsql security definer set search_path = pg_catalog as $$
begin
    if tg_op = 'DELETE' or new.path <> old.path then
        insert into otolith.gone (space, name, tx)
            values (old.space, sha256(convert_to(regexp_replace(old.path, '^own/[0-9]+/', ''), 'UTF8')), pg_current_xact_id());
    end if;
    if old.path <> 'index/audit.log' and old.path not like 'own/%'
       and (tg_op = 'DELETE' or (new.body is not null and new.body is distinct from old.body)) then
        insert into otolith.revisions (space, document, path, hands, written, body)
            select old.space, old.id, old.path, old.hands, old.written, coalesce(old.body, string_agg(l.body, ''::bytea order by l.n), '')
                from otolith.lines l where old.body is null and l.space = old.space and l.document = old.id;
    end if;
    return null;
end $$;
create trigger kept after update or delete on otolith.documents for each row execute function otolith.kept();

alter table otolith.documents enable row level security;
alter table otolith.documents force row level security;
alter table otolith.lines enable row level security;
alter table otolith.lines force row level security;
create policy reading on otolith.documents for select using (space = any ((select otolith.readable())::integer[]));
create policy adding on otolith.documents for insert with check (space = any ((select otolith.writable())::integer[]));
create policy changing on otolith.documents for update using (space = any ((select otolith.writable())::integer[]))
    with check (space = any ((select otolith.writable())::integer[]));
create policy removing on otolith.documents for delete using (space = any ((select otolith.writable())::integer[]));
create policy reading on otolith.lines for select using (space = any ((select otolith.readable())::integer[]));
create policy adding on otolith.lines for insert with check (space = any ((select otolith.writable())::integer[]));
create policy removing on otolith.lines for delete using (space = any ((select otolith.writable())::integer[]));

-- The calls of the tree; each brings its pass. The first letter of an answer says how it went.

create function otolith.whole(here integer, named text) returns bytea language sql stable as $$
    select coalesce(d.body, (select string_agg(l.body, ''::bytea order by l.n) from otolith.lines l
                             where l.space = d.space and l.document = d.id), ''::bytea)
        from otolith.documents d where d.space = here and d.path = named $$;

create function otolith.versions(here integer, below text, wanted text[])
    returns table (path text, stamp bytea, id bigint, size bigint, written double precision) language sql stable as $$
    select case when d.path like 'own/%' then regexp_replace(d.path, '^own/[0-9]+/', '') else d.path end,
           decode(md5(d.stamp::text || coalesce(l.total, 0) || '/' || coalesce(l.last, 0)), 'hex'), d.id,
           d.size + coalesce(l.size, 0), extract(epoch from coalesce(l.written, d.written))
        from otolith.documents d left join lateral (
            select count(*) total, max(n) last, sum(length(body)) size, max(written) written from otolith.lines
                where d.body is null and lines.space = d.space and lines.document = d.id) l on true
        where d.space = here and (wanted is null or d.path = any (wanted))
              and (below is null or (below = '' and d.path not like 'own/%')
                   or (below = '' and d.path like (select format('own/%s/%%', otolith.person())))
                   or (below <> '' and d.path > below || '/' and d.path < below || '0')
                   or (below <> '' and d.path like (select format('own/%s/%%', otolith.person()))
                       and starts_with(regexp_replace(d.path, '^own/[0-9]+/', ''), below || '/'))) $$;

create function otolith.scan(pass text, named text, below text)
    returns table (path text, stamp bytea, id bigint) language plpgsql as $$
declare here integer := otolith.permit(pass, named);
begin
    return query select v.path, v.stamp, v.id from otolith.versions(here, below, null) v;
end $$;

create function otolith.look(pass text, named text, wanted text)
    returns table (path text, stamp bytea, id bigint, size bigint, written double precision) language plpgsql as $$
declare here integer := otolith.permit(pass, named);
begin
    return query select * from otolith.versions(here, null, array[otolith.placed(wanted)]);
end $$;

-- How far to trust whoever had a hand in something: 0 as oneself, 1 another person, 2 a service
create function otolith.credit(hands integer[]) returns table (name text, rank integer) language sql stable
    security definer set search_path = pg_catalog as $$
    select p.name, case when coalesce(p.behalf, p.principal) = otolith.person() then 0
                        when p.kind = 'service' then 2 else 1 end
        from otolith.principals p where p.principal = any (hands) order by 2 desc, array_position(hands, p.principal) limit 1 $$;

create function otolith.read(pass text, named text, wanted text[])
    returns table (path text, body bytea, stamp bytea, id bigint, sizes integer[], names text[], ranks integer[]) language plpgsql
    security definer set search_path = pg_catalog as $$
declare here integer := otolith.permit(pass, named);
begin
    return query select v.path, coalesce(d.body, l.body, ''::bytea), v.stamp, v.id,
                        coalesce(l.sizes, array[length(d.body)]), coalesce(l.names, array[c.name]), coalesce(l.ranks, array[c.rank])
        from otolith.documents d
        join otolith.versions(here, null, (select array_agg(otolith.placed(w)) from unnest(wanted) w)) v on v.id = d.id
        left join lateral otolith.credit(d.hands) c on true
        left join lateral (
            select string_agg(o.body, ''::bytea order by o.n) body, array_agg(length(o.body) order by o.n) sizes,
                   array_agg(k.name order by o.n) names, array_agg(k.rank order by o.n) ranks
                from otolith.lines o left join lateral otolith.credit(o.hands) k on true
                where d.body is null and o.space = d.space and o.document = d.id) l on d.body is null
        where d.space = here and d.path = any (select otolith.placed(w) from unnest(wanted) w);
end $$;

create function otolith.write(pass text, named text, wanted text, given bytea, replacing bytea)
    returns table (stamp bytea, id bigint) language plpgsql as $$
declare here integer := otolith.permit(pass, named); done boolean := false; own bigint;
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    wanted := otolith.placed(wanted);
    if replacing is null then
        insert into otolith.documents (space, path, body) values (here, wanted, given) on conflict do nothing;
        done := found;
    else
        select d.id into own from otolith.documents d where d.space = here and d.path = wanted for update;
        perform pg_advisory_xact_lock(own);  -- who appends meanwhile is waited for
        if sha256(otolith.whole(here, wanted)) = replacing then
            update otolith.documents d set body = given where d.space = here and d.path = wanted;
            delete from otolith.lines l where l.space = here and l.document = own;
            done := true;
        end if;
    end if;
    if done then
        return query select v.stamp, v.id from otolith.versions(here, null, array[wanted]) v;
    end if;
end $$;

create function otolith.unfold(here integer, own bigint) returns void language plpgsql security definer set search_path = pg_catalog as $$
declare known otolith.documents;
begin
    if here = any (otolith.writable()) then
        update otolith.documents d set body = null from otolith.documents b
            where d.space = here and d.id = own and b.space = here and b.id = own returning b.* into known;
        if length(known.body) > 0 then
            insert into otolith.lines (space, document, hands, body) values (here, own, known.hands, known.body);
        end if;
    end if;
end $$;

create function otolith.append(pass text, named text, wanted text, given bytea, opening bytea) returns void language plpgsql as $$
declare here integer := otolith.permit(pass, named); own bigint; whole boolean; last bytea;
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    wanted := otolith.placed(wanted);
    insert into otolith.documents (space, path, body) select here, wanted, null
        where not exists (select from otolith.documents d where d.space = here and d.path = wanted) on conflict do nothing;
    if found then given := opening || given; end if;
    select d.id into own from otolith.documents d where d.space = here and d.path = wanted;
    perform pg_advisory_xact_lock_shared(own);  -- until this is committed, nobody rewrites it
    select d.body is not null, d.body into whole, last from otolith.documents d where d.space = here and d.id = own;
    if whole then  -- a whole document begins to grow
        perform from otolith.documents d where d.space = here and d.id = own for update;
        if (select d.body is not null from otolith.documents d where d.space = here and d.id = own) then
            perform otolith.unfold(here, own);
        end if;
        if length(last) = 0 then given := opening || given; end if;
    elsif whole is null then
        raise serialization_failure;
    else
        select l.body into last from otolith.lines l where l.space = here and l.document = own order by n desc limit 1;
    end if;
    if length(last) > 0 and get_byte(last, length(last) - 1) <> 10 then given := '\x0a' || given; end if;
    insert into otolith.lines (space, document, body) values (here, own, given);
end $$;

create function otolith.move(pass text, named text, wanted text, target text) returns text language plpgsql as $$
declare here integer := otolith.permit(pass, named);
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    wanted := otolith.placed(wanted);
    target := otolith.placed(target);
    if exists (select from otolith.documents d where d.space = here and d.path = target) then return 'taken'; end if;
    update otolith.documents d set path = target where d.space = here and d.path = wanted;
    return case when found then 'done' else 'missing' end;
end $$;

create function otolith.remove(pass text, named text, wanted text) returns boolean language plpgsql as $$
declare here integer := otolith.permit(pass, named); own bigint;
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    wanted := otolith.placed(wanted);
    select d.id into own from otolith.documents d where d.space = here and d.path = wanted for update;
    perform pg_advisory_xact_lock(own);
    delete from otolith.documents d where d.space = here and d.id = own;
    delete from otolith.lines l where l.space = here and l.document = own;
    return own is not null;
end $$;

-- The change feed. A cursor is a transaction below which all is settled; what was committed above it is told at
-- once, and told again until it is settled, too: nothing is missed, whoever commits in whatever order. The
-- number itself would tell of other spaces, so it leaves the database enciphered.

create function otolith.cipher(nonce text, number bigint, here integer) returns bigint language sql stable
    security definer set search_path = pg_catalog as $$
    select (number::bit(64) # ('x' || left(otolith.seal(format('feed;%s;%s', here, nonce)), 16))::bit(64))::bigint $$;

create function otolith.cursor(here integer, number bigint) returns text language plpgsql security definer set search_path = pg_catalog as $$
declare nonce text := replace(gen_random_uuid()::text, '-', ''); message text;
begin
    message := format('%s.%s', nonce, otolith.cipher(nonce, number, here));
    return message || '.' || left(otolith.seal(format('cursor;%s;%s', here, message)), 16);
end $$;

create function otolith.since(here integer, given text) returns bigint language plpgsql stable security definer set search_path = pg_catalog as $$
declare parts text[] := string_to_array(given, '.');
begin
    if coalesce(array_length(parts, 1), 0) <> 3
       or parts[3] <> left(otolith.seal(format('cursor;%s;%s.%s', here, parts[1], parts[2])), 16) then
        return null;
    end if;
    return otolith.cipher(parts[1], parts[2]::bigint, here);
end $$;

create function otolith.feed(pass text, named text, given text)
    returns table (path text, stamp bytea, id bigint, name bytea, cursor text) language plpgsql security definer set search_path = pg_catalog as $$
declare here integer := otolith.permit(pass, named); low bigint := otolith.since(here, given);
        high bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;  -- before anything is read
begin
    if low < (select s.floor::text::bigint from otolith.spaces s where s.space = here) then low := null; end if;
    return query select null::text, null::bytea, low, null::bytea, otolith.cursor(here, high);  -- low null: begin anew
    if low is null then return; end if;
    return query select v.path, v.stamp, v.id, null::bytea, null::text from otolith.versions(here, '', (
        select array_agg(d.path) from otolith.documents d where d.space = here and (d.tx >= low::text::xid8
            or d.id in (select l.document from otolith.lines l where l.space = here and l.tx >= low::text::xid8)))) v
        where v.path is not null;
    return query select null::text, null::bytea, null::bigint, g.name, null::text from otolith.gone g
        where g.space = here and g.tx >= low::text::xid8;
end $$;

-- Who listens is told that something changed, after the writer's transaction; what, they ask the feed

create function otolith.channel(here integer) returns text language sql stable security definer set search_path = pg_catalog as $$
    select 'otolith_' || left(otolith.seal(format('channel;%s', here)), 32) $$;
create function otolith.listen(pass text, named text) returns void language plpgsql security definer set search_path = pg_catalog as $$
begin
    execute format('listen %I', otolith.channel(otolith.permit(pass, named)));
end $$;
create function otolith.ring(pass text, named text) returns void language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform pg_notify(otolith.channel(otolith.permit(pass, named)), '');
end $$;

-- Upkeep: one at a time in a space, as long as the transaction lasts; it also lets go of what is too old

create function otolith.turn(pass text, named text) returns boolean language plpgsql security definer set search_path = pg_catalog as $$
declare here integer := otolith.permit(pass, named); old timestamptz := now() - make_interval(days => (select days from otolith.about));
begin
    if not pg_try_advisory_xact_lock(hashtextextended(format('otolith upkeep %s', here), 0)) then return false; end if;
    if exists (select from otolith.revisions r where r.space = here and r.replaced < old)
       or exists (select from otolith.gone g where g.space = here and g.at < old) then
        delete from otolith.revisions r where r.space = here and r.replaced < old;
        update otolith.spaces s set floor = coalesce((select max(g.tx) from otolith.gone g where g.space = here and g.at < old), s.floor)
            where s.space = here;
        delete from otolith.gone g where g.space = here and g.at < old;
    end if;
    return true;
end $$;

create function otolith.expunge(pass text, named text, places text[], words text[]) returns void language plpgsql
    security definer set search_path = pg_catalog as $$
declare here integer := otolith.permit(pass, named);
begin
    if not here = any (otolith.writable()) then raise insufficient_privilege; end if;
    delete from otolith.revisions r where r.space = here and (
        r.path = any (places) or r.document in (select o.document from otolith.revisions o where o.space = here and o.path = any (places))
        or exists (select from unnest(words) w where position(convert_to(w, 'UTF8') in r.body) > 0));
end $$;

create function otolith.identity(pass text, named text) returns text language plpgsql security definer set search_path = pg_catalog as $$
declare here integer := otolith.permit(pass, named);
begin
    return format('%s/%s/%s/%s', (select system_identifier from pg_control_system()),
                  (select oid from pg_database where datname = current_database()), here, otolith.principal());
end $$;

create function otolith.schema_version() returns table (version integer, clock double precision) language sql
    security definer set search_path = pg_catalog as $$
    select version, extract(epoch from clock_timestamp()) from otolith.about $$;

-- Rights: the application's role owns nothing, bypasses nothing and reads no secret

do $$ begin
    if not exists (select from pg_roles where rolname = 'otolith_app') then create role otolith_app nologin; end if;
end $$;
revoke all on all tables in schema otolith from public;
revoke all on all functions in schema otolith from public;
grant usage on schema otolith to otolith_app;
grant select, insert, update, delete on otolith.documents to otolith_app;
grant select, insert, delete on otolith.lines to otolith_app;
grant execute on function otolith.enter, otolith.readable, otolith.writable, otolith.principal, otolith.permit, otolith.whole,
    otolith.versions, otolith.scan, otolith.look, otolith.read, otolith.write, otolith.append, otolith.move, otolith.remove,
    otolith.identity, otolith.schema_version, otolith.person, otolith.placed, otolith.unfold, otolith.feed,
    otolith.listen, otolith.ring, otolith.turn, otolith.expunge to otolith_app;

-- What only the owner of the schema may do

create function otolith.told(verb text, what text) returns text language sql as $$
    insert into otolith.audit (verb, what) values (verb, what); select what $$;

create function otolith.make_login(named text, secret text) returns boolean language plpgsql as $$
declare made boolean := not exists (select from pg_roles where rolname = named);
begin
    if made then execute format('create role %I login password %L', named, secret); end if;
    execute format('grant otolith_app to %I', named);
    perform otolith.told('login', named);
    return made;
end $$;

create function otolith.keep_days(count integer) returns text language sql as $$
    update otolith.about set days = count;
    select otolith.told('days', format('former versions are kept for %s days', count)) $$;

create function otolith.make_space(named text, sort text) returns text language sql as $$
    insert into otolith.spaces (name, kind) values (named, sort);
    select otolith.told('space', format('%s (%s)', named, sort)) $$;

create function otolith.make_member(space_name text, who text, sort text, for_whom text, rank text) returns text language plpgsql as $$
declare here integer; person integer; other integer;
begin
    select space into here from otolith.spaces where name = space_name;
    if here is null then raise exception 'there is no space %', space_name using errcode = '3D000'; end if;
    if for_whom is not null then
        select principal into other from otolith.principals where name = for_whom;
        if other is null then raise exception 'there is nobody named %', for_whom using errcode = '3D000'; end if;
    end if;
    insert into otolith.principals (name, kind, behalf) values (who, sort, other) on conflict (name) do nothing;
    select principal into person from otolith.principals where name = who;
    if rank is null then
        delete from otolith.members m where m.space = here and m.principal = person;
    else
        insert into otolith.members (space, principal, role) values (here, person, rank)
            on conflict (space, principal) do update set role = excluded.role;
    end if;
    return otolith.told('member', format('%s is %s of %s', who, coalesce(rank, 'no longer a member'), space_name));
end $$;

create function otolith.make_key(who text, hashed bytea, rights text[], until timestamptz) returns integer language plpgsql as $$
declare made integer;
begin
    insert into otolith.keys (principal, digest, scopes, expires)
        select principal, hashed, rights, until from otolith.principals where name = who returning key into made;
    if made is null then raise exception 'there is nobody named %', who using errcode = '3D000'; end if;
    perform otolith.told('key', format('key %s of %s: %s', made, who, array_to_string(rights, ' ')));
    return made;
end $$;

create function otolith.revoke(which integer) returns text language plpgsql as $$
begin
    update otolith.keys set revoked = clock_timestamp() where key = which and revoked is null;
    if not found then raise exception 'there is no such key' using errcode = '3D000'; end if;
    return otolith.told('revoke', format('key %s', which));
end $$;

create function otolith.report() returns table (kind text, name text, says text) language sql stable as $$
    select 'space', s.name, format('%s: %s', s.kind, coalesce(string_agg(format('%s (%s)', p.name, m.role), ', ' order by p.name), 'nobody'))
        from otolith.spaces s left join otolith.members m using (space) left join otolith.principals p using (principal)
        group by s.space, s.name, s.kind
    union all select 'key', k.key::text, format('%s: %s%s%s%s', p.name, array_to_string(k.scopes, ' '),
                     coalesce(', until ' || to_char(k.expires at time zone 'UTC', 'YYYY-MM-DD'), ''),
                     coalesce(', last used ' || to_char(k.used at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ', never used'),
                     coalesce(', revoked ' || to_char(k.revoked at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), ''))
        from otolith.keys k join otolith.principals p using (principal)
    union all select 'audit', to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'), format('%s %s by %s', verb, what, author)
        from otolith.audit
    order by 1 desc, 2 $$;
revoke all on function otolith.told, otolith.keep_days, otolith.make_login, otolith.make_space, otolith.make_member, otolith.make_key, otolith.revoke, otolith.report
    from public;
