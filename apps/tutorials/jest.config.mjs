export { default } from '@rest-services/local-postgres/jest-preset';
